// Timeline and Failure: progress and first error of a stream, shared with its events.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_TIMELINE_H_
#define HPU_PLUGIN_BACKENDS_COMMON_TIMELINE_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "plugin/backends/common/spin.h"

namespace hpu::common {

// A stream numbers its commands from 1; the timeline holds the number of completed commands. The stream and the events
// recorded on it share the timeline, so either may be destroyed first. Thread safe, but Complete is called with
// ascending numbers.
class Timeline {
 public:
  bool Reached(uint64_t sequence) const { return completed_.load(std::memory_order_seq_cst) >= sequence; }
  void WaitFor(uint64_t sequence);
  // Marks all commands up to `sequence` as completed. Makes a system call only if a thread sleeps until one of these
  // commands completes.
  void Complete(uint64_t sequence);

 private:
  std::atomic<uint64_t> completed_{0};
  std::atomic<uint64_t> wake_at_{~uint64_t{0}};  // lowest sequence that a sleeping thread waits for
  AdaptiveSpin spin_;
  std::mutex mutex_;
  std::condition_variable reached_;
};

// The first error of a stream since its error was last cleared. StreamError clears the error by replacing this object;
// events keep the object that was current when they were recorded. Thread safe.
class Failure {
 public:
  // Call before the command `sequence` completes. Keeps the last error of the command with the lowest number.
  void Set(uint64_t sequence, absl::Status status) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (sequence > sequence_.load(std::memory_order_relaxed)) return;
    status_ = std::move(status);
    sequence_.store(sequence, std::memory_order_release);
  }
  // OK until a command up to `sequence` fails, then its error. Final once all these commands have completed.
  absl::Status UpTo(uint64_t sequence) const {
    if (sequence_.load(std::memory_order_acquire) > sequence) return absl::OkStatus();
    std::lock_guard<std::mutex> lock(mutex_);
    return status_;
  }

 private:
  std::atomic<uint64_t> sequence_{~uint64_t{0}};  // written under mutex_
  mutable std::mutex mutex_;
  absl::Status status_;  // guarded by mutex_
};

// Base of a backend's native event at a point. The backend's streams wait for the native event without the host.
class DeviceMark {
 public:
  virtual ~DeviceMark() = default;
};

// A position in a stream's work, as stored in an event. A point without a timeline counts as reached.
struct Point {
  std::shared_ptr<Timeline> timeline;
  std::shared_ptr<const Failure> failure;
  uint64_t sequence = 0;
  std::shared_ptr<DeviceMark> mark = nullptr;  // null: only the host can wait

  bool Reached() const { return timeline == nullptr || timeline->Reached(sequence); }
  // Error of the work before the point; valid once the point is reached.
  absl::Status Error() const { return failure == nullptr ? absl::OkStatus() : failure->UpTo(sequence); }
  absl::Status Wait() const {
    if (timeline != nullptr) timeline->WaitFor(sequence);
    return Error();
  }
};

}  // namespace hpu::common

#endif  // HPU_PLUGIN_BACKENDS_COMMON_TIMELINE_H_
