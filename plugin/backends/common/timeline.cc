#include "plugin/backends/common/timeline.h"

#include <algorithm>

namespace hpu::common {

void Timeline::WaitFor(uint64_t sequence) {
  if (spin_.Await([&] { return Reached(sequence); })) return;
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    // This thread stores wake_at_ before it reads completed_; Complete stores completed_ before it reads wake_at_. All
    // four accesses are sequentially consistent, so at least one thread sees the other's store.
    wake_at_.store(std::min(wake_at_.load(std::memory_order_relaxed), sequence), std::memory_order_seq_cst);
    if (Reached(sequence)) return;
    reached_.wait(lock);
  }
}

void Timeline::Complete(uint64_t sequence) {
  completed_.store(sequence, std::memory_order_seq_cst);
  if (sequence < wake_at_.load(std::memory_order_seq_cst)) return;
  std::lock_guard<std::mutex> lock(mutex_);
  wake_at_.store(~uint64_t{0}, std::memory_order_relaxed);  // threads that continue to wait set wake_at_ again
  reached_.notify_all();
}

}  // namespace hpu::common
