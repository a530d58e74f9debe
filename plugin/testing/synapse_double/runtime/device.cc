#include "plugin/testing/synapse_double/runtime/device.h"

#include <cstdio>
#include <mutex>

#include "plugin/testing/synapse_double/runtime/event.h"
#include "plugin/testing/synapse_double/runtime/handles.h"
#include "plugin/testing/synapse_double/runtime/stream.h"
#include "plugin/testing/synapse_double/runtime/switches.h"

namespace hpu::synapse_double {
namespace {

// Guards the members of State.
std::mutex& StateMutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

struct State {
  std::shared_ptr<Device> device;
  uint32_t next_id = 0;
};

State& GetState() {
  static auto* const state = new State;
  return *state;
}

}  // namespace

synapse::Generation GetGeneration() { return GetSwitches().generation; }

void* Resolve(uint64_t address, uint64_t bytes) {
  const std::shared_ptr<Allocation> allocation = HoldDeviceRange(address, bytes);
  return allocation == nullptr ? nullptr : allocation->Data(address);
}

std::shared_ptr<Allocation> HoldDeviceRange(uint64_t address, uint64_t bytes) {
  const std::shared_ptr<Device> device = Device::Current();
  return device == nullptr ? nullptr : device->memory().Hold(address, bytes);
}

synStatus DeviceStatus() {
  const std::shared_ptr<Device> device = Device::Current();
  return device == nullptr ? synapse::synSuccess : device->status();
}

void LoseDevice(synStatus status) {
  const std::shared_ptr<Device> device = Device::Current();
  synStatus healthy = synapse::synSuccess;
  if (device != nullptr) device->status_.compare_exchange_strong(healthy, status);
}

std::string PciBusId(uint32_t module) {
  char text[16];
  std::snprintf(text, sizeof(text), "0000:%02x:00.0", 0x33 + module);
  return text;
}

Device::Device(uint32_t id, uint32_t module, std::unique_ptr<ModuleLock> lock)
    : id_(id), module_(module), lock_(std::move(lock)), memory_(GetSwitches().device_bytes) {}

std::shared_ptr<Device> Device::Current() {
  std::lock_guard<std::mutex> lock(StateMutex());
  return GetState().device;
}

synStatus Device::Acquire(const std::vector<uint32_t>& modules, uint32_t* id) {
  std::lock_guard<std::mutex> lock(StateMutex());
  State& state = GetState();
  if (state.device != nullptr) {
    return Refuse(Rule::kAcquire, synapse::synAllResourcesTaken,
                  Text("this process has acquired module ", state.device->module(), "; it may hold one device"));
  }
  std::string holders;
  for (const uint32_t module : modules) {
    std::string holder;
    std::unique_ptr<ModuleLock> module_lock = ModuleLock::Try(module, &holder);
    if (module_lock != nullptr) {
      *id = state.next_id++;
      state.device.reset(new Device(*id, module, std::move(module_lock)));
      return synapse::synSuccess;
    }
    holders += Text(holders.empty() ? "" : ", ", "module ", module, " by ", holder);
  }
  return Fail(Rule::kAcquire, synapse::synDeviceAlreadyAcquired, Text("no module is free: ", holders));
}

synStatus Device::Find(uint32_t id, std::shared_ptr<Device>* device) {
  *device = Current();
  if (*device == nullptr || (*device)->id() != id) {
    const std::string acquired = *device == nullptr ? "none is acquired" : Text((*device)->id(), " is acquired");
    device->reset();
    return Refuse(Rule::kHandles, synapse::synInvalidArgument, Text("no device ", id, ": ", acquired));
  }
  return (*device)->status();
}

synStatus Device::Release(uint32_t id) {
  std::shared_ptr<Device> device = Current();
  if (device == nullptr || device->id() != id) {
    return Refuse(Rule::kHandles, synapse::synInvalidArgument, Text("no device ", id, " is acquired"));
  }
  for (const std::shared_ptr<Stream>& stream : Handles::Get().All<Stream>()) {
    if (!stream->Drain()) Abort(Rule::kInFlight, "a stream of the released device has queued work");
  }
  Handles::Get().Clear(HandleKind::kCommunicator);
  Handles::Get().Clear(HandleKind::kStream);
  Handles::Get().Clear(HandleKind::kEvent);
  std::lock_guard<std::mutex> lock(StateMutex());
  GetState().device.reset();
  return synapse::synSuccess;
}

uint64_t Device::NextAffinity(uint64_t mask) {
  uint64_t bit;
  do {
    bit = uint64_t{1} << next_affinity_.fetch_add(1) % 64;
  } while ((mask & bit) == 0);
  return bit;
}

void Device::ForgetInChild() {
  if (GetState().device != nullptr) GetState().device->lock_->CloseInChild();
}

}  // namespace hpu::synapse_double
