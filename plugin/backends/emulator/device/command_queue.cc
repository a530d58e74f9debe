#include "plugin/backends/emulator/device/command_queue.h"

namespace hpu::emulator {

void CommandQueue::Publish(uint64_t sequence) {
  pushed_.store(sequence, std::memory_order_seq_cst);
  if (!asleep_.load(std::memory_order_seq_cst)) return;  // the consumer is busy or spins: no system call
  std::lock_guard<std::mutex> lock(sleep_mutex_);
  awake_.notify_one();
}

Command& CommandQueue::Take(uint64_t sequence) {
  const auto ready = [&] { return pushed_.load(std::memory_order_seq_cst) >= sequence; };
  if (!spin_.Await(ready)) {
    std::unique_lock<std::mutex> lock(sleep_mutex_);
    asleep_.store(true, std::memory_order_seq_cst);  // before pushed_ is read; Publish uses the reverse order
    awake_.wait(lock, ready);
    asleep_.store(false, std::memory_order_relaxed);
  }
  return slots_[sequence % kCapacity];
}

}  // namespace hpu::emulator
