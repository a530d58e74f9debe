// ComputeThreads: threads that compute together with the thread that asks them to.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_THREADS_COMPUTE_THREADS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_THREADS_COMPUTE_THREADS_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "plugin/backends/common/spin.h"
#include "tsl/platform/threadpool_interface.h"

namespace hpu::emulator {

// Made for short tasks, one after another, on few CPUs, where Eigen's pool loses what the tasks win: there the thread
// that asks sleeps while others work, and two threads are woken where one is needed. Here it works too, a thread that
// has just worked waits awake for a moment, and a second one is woken only for a second task. Thread safe.
class ComputeThreads final : public tsl::thread::ThreadPoolInterface {
 public:
  explicit ComputeThreads(int threads);
  // Runs what is queued first.
  ~ComputeThreads() override;

  void Schedule(std::function<void()> task) override;
  // Where oneDNN cuts its work, one task for each thread, it gives the first, which queues the others, to thread 0.
  // That is the calling thread, unless it is one of these threads: it returns when it has run the task and those of the
  // queue that no thread had begun, the others nearly finished.
  void ScheduleWithHint(std::function<void()> task, int first_thread, int last_thread) override;

  int NumThreads() const override { return static_cast<int>(threads_.size()); }
  int CurrentThreadId() const override;

  // For those who wait until threads have finished their share of the work.
  common::AdaptiveSpin& finish_spin() { return finish_spin_; }

 private:
  void Work(int id);
  // False if the queue is empty.
  bool RunOne();

  const int most_awake_;  // leaves a CPU to the thread that asks
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;  // guarded by mutex_, as the next two
  int awake_ = 0;                            // threads that look for a task without sleeping
  bool stopping_ = false;
  // For those who wait awake.
  std::atomic<int> queued_{0};
  std::atomic<int> unfinished_{0};  // queued or running
  common::AdaptiveSpin finish_spin_{std::chrono::microseconds(100)};
  std::vector<std::thread> threads_;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_THREADS_COMPUTE_THREADS_H_
