// PendingCopies: copies to the device that may run in parallel with other work.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_PENDING_COPIES_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_PENDING_COPIES_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "plugin/hal/stream.h"
#include "plugin/hal/types.h"
#include "plugin/tensorflow/device/event_pool.h"

namespace hpu {

// Only work that touches the destination waits for a copy. Costs one atomic load while no copy is pending. Thread safe.
class PendingCopies {
 public:
  // Adds the latest copy on `stream`, which writes the range.
  absl::Status Add(hal::DeviceAddress address, uint64_t bytes, hal::Stream& stream, EventPool& events);

  // Makes `stream` wait until the copies to the range have ended. Errors of the copies become errors of `stream`.
  absl::Status WaitFor(hal::DeviceAddress address, uint64_t bytes, hal::Stream& stream);

  bool any() const { return count_.load(std::memory_order_acquire) > 0; }

  // Forgets all copies. Call when all copies have ended and their errors have been reported.
  void Clear();

 private:
  struct Copy {
    hal::DeviceAddress begin, end;
    EventPool::Lease ended;
  };

  std::mutex mutex_;
  std::vector<Copy> copies_;  // guarded by mutex_
  std::atomic<size_t> count_{0};
};

// Wraps `stream` so that its work waits for pending copies to the memory that the work uses. `copies` must outlive the
// result.
std::unique_ptr<hal::Stream> WaitForCopies(std::unique_ptr<hal::Stream> stream, PendingCopies* copies);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_PENDING_COPIES_H_
