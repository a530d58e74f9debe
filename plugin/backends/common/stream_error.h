// StreamError: first error of a stream's work, kept until it is reported.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_STREAM_ERROR_H_
#define HPU_PLUGIN_BACKENDS_COMMON_STREAM_ERROR_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "plugin/backends/common/timeline.h"

namespace hpu::common {

// Thread safe.
class StreamError {
 public:
  // Whether there is an unreported error. Later work is then skipped.
  bool is_set() const { return is_set_.load(std::memory_order_acquire); }

  // Stores `status` as the error of the command `sequence`, unless an earlier command failed. Requires that the command
  // has not completed.
  void Set(uint64_t sequence, absl::Status status) {
    std::lock_guard<std::mutex> lock(mutex_);
    failure_->Set(sequence, std::move(status));
    is_set_.store(true, std::memory_order_release);
  }

  // The error of the commands up to `sequence`; OK without an error.
  absl::Status UpTo(uint64_t sequence) const {
    if (!is_set()) return absl::OkStatus();
    std::lock_guard<std::mutex> lock(mutex_);
    return failure_->UpTo(sequence);
  }

  // Returns and clears the error of the commands up to `sequence`, which must have completed.
  absl::Status TakeUpTo(uint64_t sequence) {
    if (!is_set()) return absl::OkStatus();
    std::lock_guard<std::mutex> lock(mutex_);
    absl::Status error = failure_->UpTo(sequence);
    if (!error.ok()) {
      failure_ = std::make_shared<Failure>();
      is_set_.store(false, std::memory_order_release);
    }
    return error;
  }

  // The point after the commands of `queue` that have been pushed. Reads the failure before the number of commands, so
  // a command pushed between the two reads may become part of the point. The reverse order could miss a failure.
  template <typename Queue>
  Point PointAfter(const std::shared_ptr<Timeline>& timeline, const Queue& queue) const {
    std::lock_guard<std::mutex> lock(mutex_);
    return Point{timeline, failure_, queue.pushed()};
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<Failure> failure_ = std::make_shared<Failure>();  // guarded by mutex_
  std::atomic<bool> is_set_{false};                                 // written under mutex_
};

}  // namespace hpu::common

#endif  // HPU_PLUGIN_BACKENDS_COMMON_STREAM_ERROR_H_
