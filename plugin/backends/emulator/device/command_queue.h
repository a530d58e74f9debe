// CommandQueue: bounded ring of commands from many producers to one consumer.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_DEVICE_COMMAND_QUEUE_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_DEVICE_COMMAND_QUEUE_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "plugin/backends/common/spin.h"
#include "plugin/backends/common/timeline.h"
#include "plugin/backends/emulator/device/command.h"

namespace hpu::emulator {

// Commands are numbered from 1 in the order of the pushes. Slots and their arrays are reused, so a push allocates
// nothing once the queue has seen the largest launch. A full ring blocks the producer: the host cannot run arbitrarily
// far ahead of the device.
class CommandQueue {
 public:
  explicit CommandQueue(std::shared_ptr<common::Timeline> timeline)
      : timeline_(std::move(timeline)), slots_(kCapacity) {}

  // `fill` writes the command into its slot. Returns the command's number. Thread safe.
  template <typename Fill>
  uint64_t Push(const Fill& fill) {
    std::lock_guard<std::mutex> lock(push_mutex_);
    const uint64_t sequence = pushed_.load(std::memory_order_relaxed) + 1;
    if (sequence > kCapacity) timeline_->WaitFor(sequence - kCapacity);
    fill(slots_[sequence % kCapacity]);
    Publish(sequence);
    return sequence;
  }
  // Number of the last command pushed; 0 if there is none. Thread safe.
  uint64_t pushed() const { return pushed_.load(std::memory_order_acquire); }

  // Waits for the command `sequence` and returns it. The caller may use it until Timeline::Complete(sequence). Called
  // only by the thread that runs the commands, with ascending numbers.
  Command& Take(uint64_t sequence);

 private:
  static constexpr uint64_t kCapacity = 512;

  void Publish(uint64_t sequence);

  const std::shared_ptr<common::Timeline> timeline_;
  std::mutex push_mutex_;
  std::vector<Command> slots_;
  std::atomic<uint64_t> pushed_{0};
  std::atomic<bool> asleep_{false};
  common::AdaptiveSpin spin_;
  std::mutex sleep_mutex_;
  std::condition_variable awake_;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_DEVICE_COMMAND_QUEUE_H_
