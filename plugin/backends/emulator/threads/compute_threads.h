// ComputeThreads: worker threads that compute together with the calling thread.
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

// Optimised for sequences of short tasks on few CPUs. For such sequences, the overhead of Eigen's pool exceeds the
// gain. With Eigen, the calling thread sleeps while workers compute, and two threads wake where one suffices. In this
// pool, the calling thread also computes. A thread spins briefly after a task, and a second thread is woken only for a
// second task. Thread safe.
class ComputeThreads final : public tsl::thread::ThreadPoolInterface {
 public:
  explicit ComputeThreads(int threads);
  // Runs all queued tasks first.
  ~ComputeThreads() override;

  void Schedule(std::function<void()> task) override;
  // oneDNN splits its work into at most one task per thread. The first task is scheduled on thread 0 and queues further
  // tasks. A caller outside the pool acts as thread 0: the caller runs the task and all queued tasks that no thread has
  // begun. Then the caller waits briefly for the running tasks.
  void ScheduleWithHint(std::function<void()> task, int first_thread, int last_thread) override;

  int NumThreads() const override { return static_cast<int>(threads_.size()); }
  int CurrentThreadId() const override;

  // Spinning of callers that wait for the threads to finish.
  common::AdaptiveSpin& finish_spin() { return finish_spin_; }

 private:
  void Work(int id);
  // Runs one queued task. Returns false if the queue is empty.
  bool RunOne();

  const int max_awake_;  // leaves one CPU to the calling thread
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;  // guarded by mutex_, like the next two members
  int awake_ = 0;                            // threads that look for a task without sleeping
  bool stopping_ = false;
  // Polled by threads that spin.
  std::atomic<int> queued_{0};
  std::atomic<int> unfinished_{0};  // queued or running
  common::AdaptiveSpin finish_spin_{std::chrono::microseconds(100)};
  std::vector<std::thread> threads_;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_THREADS_COMPUTE_THREADS_H_
