// CommandQueue: bounded ring buffer of commands with many producers and one consumer.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_COMMAND_QUEUE_H_
#define HPU_PLUGIN_BACKENDS_COMMON_COMMAND_QUEUE_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "plugin/backends/common/spin.h"
#include "plugin/backends/common/timeline.h"

namespace hpu::common {

// Commands are numbered from 1 in the order of the pushes. Slots keep their arrays, so a push allocates nothing once
// each slot has held the largest launch. A full ring blocks the producer: the host cannot run arbitrarily far ahead of
// the device.
template <typename Command>
class CommandQueue {
 public:
  explicit CommandQueue(std::shared_ptr<Timeline> timeline) : timeline_(std::move(timeline)), slots_(kCapacity) {}

  // Assigns the next number, `sequence`, and calls `fill(command, sequence)`, which writes the command into its slot.
  // Returns `sequence`. Thread safe.
  template <typename Fill>
  uint64_t Push(const Fill& fill) {
    std::lock_guard<std::mutex> lock(push_mutex_);
    const uint64_t sequence = pushed_.load(std::memory_order_relaxed) + 1;
    if (sequence > kCapacity) timeline_->WaitFor(sequence - kCapacity);
    fill(slots_[sequence % kCapacity], sequence);
    Publish(sequence);
    return sequence;
  }
  // As Push, for work that may complete immediately: `fill` returns true if the command has completed. If all earlier
  // commands have also completed, the consumer is not woken and skips the command (Timeline::Reached).
  template <typename Fill>
  void PushUnlessEnded(const Fill& fill) {
    std::lock_guard<std::mutex> lock(push_mutex_);
    const uint64_t sequence = pushed_.load(std::memory_order_relaxed) + 1;
    if (sequence > kCapacity) timeline_->WaitFor(sequence - kCapacity);
    if (!fill(slots_[sequence % kCapacity], sequence) || !timeline_->Reached(sequence - 1)) return Publish(sequence);
    // Completes the command before the push, so that a consumer that sees the command also sees its completion.
    timeline_->Complete(sequence);
    pushed_.store(sequence, std::memory_order_seq_cst);
  }
  // Number of the last command pushed; 0 if there is none. Thread safe.
  uint64_t pushed() const { return pushed_.load(std::memory_order_acquire); }

  // Blocks until the command `sequence` has been pushed, and returns the command. The caller may use the command until
  // Timeline::Complete(sequence). Called only by the consumer's thread, with ascending numbers.
  Command& Await(uint64_t sequence) {
    const auto ready = [&] { return pushed_.load(std::memory_order_seq_cst) >= sequence; };
    if (!spin_.Await(ready)) {
      std::unique_lock<std::mutex> lock(sleep_mutex_);
      asleep_.store(true, std::memory_order_seq_cst);  // before pushed_ is read; Publish uses the reverse order
      awake_.wait(lock, ready);
      asleep_.store(false, std::memory_order_relaxed);
    }
    return slots_[sequence % kCapacity];
  }

 private:
  static constexpr uint64_t kCapacity = 512;

  void Publish(uint64_t sequence) {
    pushed_.store(sequence, std::memory_order_seq_cst);
    if (!asleep_.load(std::memory_order_seq_cst)) return;  // no system call while the consumer is busy or spins
    std::lock_guard<std::mutex> lock(sleep_mutex_);
    awake_.notify_one();
  }

  const std::shared_ptr<Timeline> timeline_;
  std::mutex push_mutex_;
  std::vector<Command> slots_;
  std::atomic<uint64_t> pushed_{0};
  std::atomic<bool> asleep_{false};
  AdaptiveSpin spin_;
  std::mutex sleep_mutex_;
  std::condition_variable awake_;
};

}  // namespace hpu::common

#endif  // HPU_PLUGIN_BACKENDS_COMMON_COMMAND_QUEUE_H_
