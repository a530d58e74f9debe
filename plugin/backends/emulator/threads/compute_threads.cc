#include "plugin/backends/emulator/threads/compute_threads.h"

#include <pthread.h>

#include <algorithm>
#include <cfenv>
#include <chrono>
#include <utility>

#include "plugin/backends/common/signal_mask.h"
#include "tsl/platform/denormal.h"
#include "tsl/platform/setround.h"

namespace hpu::emulator {
namespace {

// A wake-up takes 20 to 50 µs in a virtual machine. Without spinning, a step would wake threads at the start and at the
// end of each of its hundreds of loops and products. AdaptiveSpin does not fit, because short waits (between a step's
// loops) and long waits (between steps) alternate here.
constexpr std::chrono::microseconds kIdle(50);
constexpr std::chrono::microseconds kFinish(100);

// The pool and the number of the current thread.
struct Membership {
  const ComputeThreads* pool = nullptr;
  int id = -1;
};
thread_local Membership current;

}  // namespace

ComputeThreads::ComputeThreads(int threads) : max_awake_(std::min(threads, common::AvailableCpus()) - 1) {
  const common::ScopedSignalMask mask;
  threads_.reserve(threads);  // threads read the vector's size
  for (int id = 0; id < threads; ++id) {
    threads_.emplace_back([this, id] { Work(id); });
    pthread_setname_np(threads_.back().native_handle(), "hpu_compute");
  }
}

ComputeThreads::~ComputeThreads() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ComputeThreads::Schedule(std::function<void()> task) {
  bool wake = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    queue_.push_back(std::move(task));
    queued_.store(static_cast<int>(queue_.size()), std::memory_order_release);
    unfinished_.fetch_add(1, std::memory_order_relaxed);
    wake = queue_.size() > static_cast<size_t>(awake_);
  }
  if (wake) wake_.notify_one();
}

void ComputeThreads::ScheduleWithHint(std::function<void()> task, int first_thread, int last_thread) {
  if (first_thread != 0 || CurrentThreadId() >= 0) return Schedule(std::move(task));
  const Membership before = std::exchange(current, {this, 0});
  task();
  while (RunOne()) {
  }
  current = before;
  if (max_awake_ > 0) common::SpinFor(kFinish, [this] { return unfinished_.load(std::memory_order_acquire) == 0; });
}

int ComputeThreads::CurrentThreadId() const { return current.pool == this ? current.id : -1; }

bool ComputeThreads::RunOne() {
  if (queued_.load(std::memory_order_acquire) == 0) return false;
  std::function<void()> task;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (queue_.empty()) return false;
    task = std::move(queue_.front());
    queue_.pop_front();
    queued_.store(static_cast<int>(queue_.size()), std::memory_order_relaxed);
  }
  task();
  unfinished_.fetch_sub(1, std::memory_order_release);
  return true;
}

void ComputeThreads::Work(int id) {
  current = {this, id};
  // Same floating-point mode as in TensorFlow's threads.
  const tsl::port::ScopedFlushDenormal flush;
  const tsl::port::ScopedSetRound round(FE_TONEAREST);
  for (;;) {
    while (RunOne()) {
    }
    std::unique_lock<std::mutex> lock(mutex_);
    if (awake_ < max_awake_) {
      ++awake_;
      lock.unlock();
      common::SpinFor(kIdle, [this] { return queued_.load(std::memory_order_acquire) > 0; });
      lock.lock();
      --awake_;
    }
    wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
  }
}

}  // namespace hpu::emulator
