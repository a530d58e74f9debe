// PendingCopies: copies to the device that may still run while other work goes on.
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

// Whatever touches the destination waits for the copy, and nothing else does. Costs an atomic load while there is none.
// Thread safe.
class PendingCopies {
 public:
  // The copy to this range that was queued last on `stream`.
  absl::Status Add(hal::DeviceAddress address, uint64_t bytes, hal::Stream& stream, EventPool& events);

  // Holds later work of `stream` back until the copies to the range have ended; their errors become the stream's.
  absl::Status WaitFor(hal::DeviceAddress address, uint64_t bytes, hal::Stream& stream);

  bool any() const { return count_.load(std::memory_order_acquire) > 0; }

  // Forgets all, once they have been waited for and their errors reported.
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

// Gives `stream` so that its work waits for the pending copies to what it touches. They must outlive it.
std::unique_ptr<hal::Stream> WaitForCopies(std::unique_ptr<hal::Stream> stream, PendingCopies* copies);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_PENDING_COPIES_H_
