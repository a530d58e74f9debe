// Event: a point in a stream's work that the host and other streams can wait for.
#ifndef HPU_PLUGIN_HAL_EVENT_H_
#define HPU_PLUGIN_HAL_EVENT_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hpu::hal {

// Recorded by Stream::Record. Recording again moves the event; waits queued earlier keep the earlier point. An event
// that was never recorded counts as reached. It may be destroyed while a stream still waits for it. Thread safe.
class Event {
 public:
  virtual ~Event() = default;

  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  // True once all work queued before the record has ended. An error of that work is returned instead.
  virtual absl::StatusOr<bool> Query() const = 0;
  // Blocks until that work has ended; returns its error, if any.
  virtual absl::Status Synchronize() const = 0;

 protected:
  Event() = default;
};

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_HAL_EVENT_H_
