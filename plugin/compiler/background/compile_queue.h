// CompileQueue: compiles in the background.
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

// One thread, which yields the processor to the program's own work and ends when nothing is left to do. Thread safe.
//
// In a child forked from the process that made it, all methods return at once: the thread does not exist there.
class CompileQueue {
 public:
  // `cancelled` turns true once nobody wants the outcome.
  using Work = std::function<void(const std::atomic<bool>& cancelled)>;

  // As many as XLA compiles at a time.
  static constexpr size_t kCapacity = 10;

  // What the thread adds to the niceness of the one that starts it.
  static constexpr int kNice = 10;

  // The process's; never destroyed.
  static CompileQueue& Get();

  CompileQueue();
  // Stop() must have been called.
  ~CompileQueue() = default;
  CompileQueue(const CompileQueue&) = delete;
  CompileQueue& operator=(const CompileQueue&) = delete;

  // Runs `work` later; false if it will not: kCapacity are waiting already, or Stop() was called. `owner` is for Cancel
  // only, the work must not need it.
  bool Schedule(const void* owner, Work work) ABSL_LOCKS_EXCLUDED(mutex_);

  // Drops what the owner has scheduled and cancels what is running of it. Waits for nothing.
  void Cancel(const void* owner) ABSL_LOCKS_EXCLUDED(mutex_);

  // Drops all, cancels what is running and waits for its end: before the process ends, which destroys what compilers
  // use. A compiler does not stop half-way, so this may take as long as one compile.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Item {
    const void* owner;
    Work work;
  };

  void Run() ABSL_LOCKS_EXCLUDED(mutex_);  // the thread's
  void ShowWaiting() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsForeign() const;  // in a forked child, where the mutex may be held for ever

  const pid_t process_;
  absl::Mutex mutex_;
  std::deque<Item> items_ ABSL_GUARDED_BY(mutex_);
  bool has_thread_ ABSL_GUARDED_BY(mutex_) = false;
  const void* running_ ABSL_GUARDED_BY(mutex_) = nullptr;  // owner of what is running
  std::atomic<bool> cancelled_{false};                     // what is running
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_BACKGROUND_COMPILE_QUEUE_H_
