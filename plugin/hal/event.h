// Event: a point in a stream's work that the host and other streams can wait for.
#ifndef HPU_PLUGIN_HAL_EVENT_H_
#define HPU_PLUGIN_HAL_EVENT_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hpu::hal {

// Recorded by Stream::Record. Recording again moves the event. Waits that are already queued still refer to the earlier
// point. An event that was never recorded counts as reached. An event may be destroyed while streams wait for it.
// Thread safe.
class Event {
 public:
  virtual ~Event() = default;

  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  // True once all work queued before Record has ended. Returns the work's error if it failed.
  virtual absl::StatusOr<bool> Query() const = 0;
  // Blocks until all work queued before Record has ended. Returns the work's error, if any.
  virtual absl::Status Synchronize() const = 0;

 protected:
  Event() = default;
};

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_HAL_EVENT_H_
