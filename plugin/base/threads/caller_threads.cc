#include "plugin/base/threads/caller_threads.h"

#include <deque>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace hpu {

class CallerThreads::Queue : public std::enable_shared_from_this<Queue> {
 public:
  explicit Queue(Runner pool) : pool_(std::move(pool)) {}

  // The caller takes the closures that are there when it starts, and the first that is added while it waits.
  void Add(Closure closure) {
    {
      absl::MutexLock lock(&mutex_);
      closures_.push_back(std::move(closure));
      if (caller_ == Caller::kStarts || (caller_ == Caller::kWaits && closures_.size() == 1)) return;
    }
    AskForHelp();
  }

  void End() {
    absl::MutexLock lock(&mutex_);
    ended_ = true;
  }

  void Wait() {
    size_t others = 0;
    {
      absl::MutexLock lock(&mutex_);
      others = closures_.empty() ? 0 : closures_.size() - 1;
      caller_ = Caller::kRuns;
    }
    for (size_t i = 0; i < others; ++i) AskForHelp();
    while (RunNext()) {
    }
  }

 private:
  enum class Caller { kStarts, kRuns, kWaits };

  void AskForHelp() {
    const bool asks = std::exchange(asks_for_help_, true);
    pool_([queue = shared_from_this()] { queue->Help(); });
    asks_for_help_ = asks;
  }

  // Runs one closure, if there is one. A pool that runs closures at once would otherwise nest them without end.
  void Help() {
    if (asks_for_help_) return;
    Closure closure;
    {
      absl::MutexLock lock(&mutex_);
      if (closures_.empty()) return;
      closure = Take();
    }
    closure();
  }

  // Waits for a closure, and runs it. Returns false at the end of the call.
  bool RunNext() {
    Closure closure;
    {
      absl::MutexLock lock(&mutex_);
      caller_ = Caller::kWaits;
      mutex_.Await(absl::Condition(this, &Queue::HasWork));
      caller_ = Caller::kRuns;
      if (closures_.empty()) return false;
      closure = Take();
    }
    closure();
    return true;
  }

  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return ended_ || !closures_.empty(); }

  Closure Take() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Closure closure = std::move(closures_.front());
    closures_.pop_front();
    return closure;
  }

  static thread_local bool asks_for_help_;  // whether this thread is inside of pool_

  const Runner pool_;
  absl::Mutex mutex_;
  std::deque<Closure> closures_ ABSL_GUARDED_BY(mutex_);
  Caller caller_ ABSL_GUARDED_BY(mutex_) = Caller::kStarts;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

thread_local bool CallerThreads::Queue::asks_for_help_ = false;

CallerThreads::CallerThreads(Runner pool)
    : queue_(std::make_shared<Queue>(std::move(pool))),
      runner_([queue = queue_](Closure closure) { queue->Add(std::move(closure)); }) {}

CallerThreads::Closure CallerThreads::ending() {
  return [queue = queue_] { queue->End(); };
}

void CallerThreads::Wait() { queue_->Wait(); }

}  // namespace hpu
