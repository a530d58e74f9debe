// EmulatorStream: stream of the emulator, with a command queue and a thread.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_DEVICE_STREAM_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_DEVICE_STREAM_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "plugin/backends/common/command_queue.h"
#include "plugin/backends/common/stream_error.h"
#include "plugin/backends/common/timeline.h"
#include "plugin/backends/emulator/device/command.h"
#include "plugin/hal/stream.h"

namespace hpu::emulator {

class EmulatorDevice;

// The stream's thread runs the commands in order; recipes also use the device's ComputePool. A queueing call checks its
// arguments and translates addresses to data pointers. If the stream's thread is awake and the queue has room, a push
// costs no wake-up.
//
// If the stream is idle, the calling thread runs a short copy, fill or launch itself, because waking the stream's
// thread would take longer. With fault rules (HPU_FAULTS) the stream's thread runs every command, because a rule may
// delay it.
class EmulatorStream final : public hal::Stream {
 public:
  EmulatorStream(EmulatorDevice* device, hal::StreamKind kind);
  ~EmulatorStream() override;

  hal::StreamKind kind() const override { return kind_; }
  absl::Status CopyToDevice(const void* source, hal::DeviceAddress destination, uint64_t bytes) override;
  absl::Status CopyToHost(hal::DeviceAddress source, void* destination, uint64_t bytes) override;
  absl::Status CopyOnDevice(hal::DeviceAddress source, hal::DeviceAddress destination, uint64_t bytes) override;
  absl::Status Fill(hal::DeviceAddress destination, uint8_t value, uint64_t bytes) override;
  absl::Status Launch(std::shared_ptr<const hal::Recipe> recipe, const hal::LaunchArguments& arguments) override;
  absl::Status Record(hal::Event& event) override;
  absl::Status Wait(const hal::Event& event) override;
  absl::Status AddCallback(std::function<void(absl::Status)> callback) override;
  absl::Status Synchronize() override;

  // Queues a command of kind kExchange; see Command::exchange.
  void QueueExchange(std::function<absl::Status(const absl::Status&)> exchange);
  const EmulatorDevice* device() const { return device_; }
  // Elapsed time of the current launch; zero if no launch is running. Thread safe.
  std::chrono::nanoseconds launch_time() const;

 private:
  friend class EmulatorDevice;

  // State of the stream's thread. Leaked, not destroyed, in a forked child, where the thread does not exist.
  struct State {
    State() : timeline(std::make_shared<common::Timeline>()), queue(timeline) {}

    const std::shared_ptr<common::Timeline> timeline;
    common::CommandQueue<Command> queue;
    common::StreamError error;
    // Start of the current launch, by the steady clock; 0 if no launch is running.
    std::atomic<int64_t> launch_begin_ns{0};
    std::thread thread;
  };

  // The position after all commands queued so far.
  common::Point Now() const { return state_->error.PointAfter(state_->timeline, state_->queue); }
  absl::Status QueueCopy(const void* source, void* destination, uint64_t bytes, bool from_host = false);
  // Pushes the command that `write` fills in. If `is_short`, the stream is idle and there are no fault rules, runs the
  // command on this thread.
  template <typename Write>
  void QueueWork(bool is_short, const Write& write);

  // Called on the stream's thread.
  void RunCommands();
  // Called on the stream's thread, or by QueueWork on an idle stream.
  void Run(Command& command, uint64_t sequence);
  absl::Status RunWork(Command& command);
  absl::Status RunLaunch(Command& command);

  EmulatorDevice* const device_;
  const hal::StreamKind kind_;
  std::unique_ptr<State> state_;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_DEVICE_STREAM_H_
