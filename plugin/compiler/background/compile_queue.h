// CompileQueue: queue of background compiles.
#ifndef HPU_PLUGIN_COMPILER_BACKGROUND_COMPILE_QUEUE_H_
#define HPU_PLUGIN_COMPILER_BACKGROUND_COMPILE_QUEUE_H_

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace hpu {

// Runs work on one thread of low priority, which ends when the queue is empty. Thread safe.
//
// In a forked child all methods return immediately, because the child has no such thread.
class CompileQueue {
 public:
  // `cancelled` turns true once the result is no longer needed.
  using Work = std::function<void(const std::atomic<bool>& cancelled)>;

  // Maximum number of waiting items. TensorFlow limits waiting and running compiles to the same number
  // (kNumAsyncDeviceCompilerThreads).
  static constexpr size_t kCapacity = 10;

  // Added to the niceness that the queue's thread inherits from its creator.
  static constexpr int kNice = 10;

  // The process-wide queue; never destroyed.
  static CompileQueue& Get();

  CompileQueue();
  // Stop() must have been called.
  ~CompileQueue() = default;
  CompileQueue(const CompileQueue&) = delete;
  CompileQueue& operator=(const CompileQueue&) = delete;

  // Schedules `work`. Returns false if the work will not run: kCapacity items are waiting, or Stop() was called.
  // `owner` only identifies the work for Cancel and may be destroyed before the work runs.
  bool Schedule(const void* owner, Work work) ABSL_LOCKS_EXCLUDED(mutex_);

  // Drops the owner's scheduled work and cancels its running work. Does not block.
  void Cancel(const void* owner) ABSL_LOCKS_EXCLUDED(mutex_);

  // Drops the scheduled work, cancels the running work and waits for its end. Must be called before the process
  // destroys state that compilers use. May take as long as one compile, because a compiler cannot be interrupted.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Item {
    const void* owner;
    Work work;
  };

  void Run() ABSL_LOCKS_EXCLUDED(mutex_);  // body of the thread
  void ShowWaiting() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsForkedChild() const;  // true in a forked child, whose mutex may stay locked forever

  const pid_t process_;
  absl::Mutex mutex_;
  std::deque<Item> items_ ABSL_GUARDED_BY(mutex_);
  bool has_thread_ ABSL_GUARDED_BY(mutex_) = false;
  const void* running_ ABSL_GUARDED_BY(mutex_) = nullptr;  // owner of the running work
  std::atomic<bool> cancelled_{false};                     // cancels the running work
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_BACKGROUND_COMPILE_QUEUE_H_
