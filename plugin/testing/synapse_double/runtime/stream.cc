#include "plugin/testing/synapse_double/runtime/stream.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "plugin/backends/gaudi/synapse/status_names.h"
#include "plugin/testing/synapse_double/runtime/device.h"
#include "plugin/testing/synapse_double/runtime/faults.h"
#include "plugin/testing/synapse_double/runtime/switches.h"

namespace hpu::synapse_double {

const char* EngineName(Engine engine) {
  switch (engine) {
    case Engine::kDeviceToHost:
      return "copies from device to host";
    case Engine::kHostToDevice:
      return "copies from host to device";
    case Engine::kDeviceToDevice:
      return "copies from device to device";
    case Engine::kCompute:
      return "launches";
    case Engine::kCollective:
      return "collectives";
    case Engine::kAll:
      return "all work";
  }
  return "";
}

Stream::Stream(Engine engine, uint64_t serial)
    : engine_(engine), random_(GetSwitches().seed * 1000003 + serial), thread_([this] { Run(); }) {}

Stream::~Stream() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

synStatus Stream::StatusLocked() const {
  const synStatus device = DeviceStatus();
  return device != synapse::synSuccess ? device : status_;
}

synStatus Stream::Add(Entry entry) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const synStatus status = StatusLocked();
    if (status != synapse::synSuccess) return status;
    queue_.push_back(std::move(entry));
    ++queued_;
  }
  changed_.notify_all();
  const uint64_t delay_us = GetSwitches().call_delay_us;
  if (delay_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
  return synapse::synSuccess;
}

synStatus Stream::Enqueue(Command command) { return Add({std::move(command), nullptr, /*is_work=*/true}); }

synStatus Stream::EnqueueWait(Command command) { return Add({std::move(command), nullptr, /*is_work=*/false}); }

synStatus Stream::EnqueueMark(Mark mark) { return Add({nullptr, std::move(mark), /*is_work=*/false}); }

synStatus Stream::CheckEngine(Engine engine) const {
  if (engine_ == Engine::kAll || engine_ == engine) return synapse::synSuccess;
  return Refuse(Rule::kArguments, synapse::synInvalidArgument,
                Text("the stream was created for ", EngineName(engine_), ", not for ", EngineName(engine)));
}

synStatus Stream::Synchronize() {
  std::unique_lock<std::mutex> lock(mutex_);
  const uint64_t last = queued_;
  changed_.wait(lock, [&] { return finished_ >= last; });
  return StatusLocked();
}

synStatus Stream::Query() {
  std::lock_guard<std::mutex> lock(mutex_);
  const synStatus status = StatusLocked();
  if (status != synapse::synSuccess) return status;
  return finished_ == queued_ ? synapse::synSuccess : synapse::synBusy;
}

bool Stream::Drain() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (StatusLocked() != synapse::synSuccess) changed_.wait(lock, [this] { return finished_ == queued_; });
  return finished_ == queued_;
}

void Stream::Delay() {
  const Switches& switches = GetSwitches();
  while (!switches.gate.empty() && access(switches.gate.c_str(), F_OK) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const uint64_t range_us = std::max(switches.max_delay_us, switches.min_delay_us) - switches.min_delay_us;
  if (switches.min_delay_us == 0 && (range_us == 0 || random_() % 2 == 0)) return;
  std::this_thread::sleep_for(std::chrono::microseconds(switches.min_delay_us + random_() % (range_us + 1)));
}

void Stream::Run() {
  while (true) {
    Entry entry;
    synStatus status;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [&] { return ends_ || !queue_.empty(); });
      if (queue_.empty()) return;
      entry = std::move(queue_.front());
      queue_.pop_front();
      status = StatusLocked();
    }
    Delay();
    if (entry.command != nullptr && status == synapse::synSuccess) {
      if (entry.is_work) {
        status = CommandFault();
        if (const std::shared_ptr<Device> device = Device::Current()) device->trace().Add();
      }
      if (status == synapse::synSuccess) status = entry.command();
      if (synapse::LosesDevice(status)) LoseDevice(status);
    }
    entry.command = nullptr;  // releases its buffers before a waiter sees the end
    {
      // Under the lock, so that a thread that sees the mark also sees the stream's status.
      std::lock_guard<std::mutex> lock(mutex_);
      if (status_ == synapse::synSuccess) status_ = status;
      if (entry.mark != nullptr) entry.mark(status);
      ++finished_;
    }
    changed_.notify_all();
  }
}

}  // namespace hpu::synapse_double
