#include "plugin/backends/common/point_event.h"

#include <utility>

#include "plugin/base/status_macros.h"

namespace hpu::common {

PointEvent::~PointEvent() {
  // Leaks the state in a forked child. The timeline's last reference destroys a condition variable. This destructor
  // never returns if a thread was waiting on the variable at the time of the fork.
  if (liveness_.forked()) static_cast<void>(state_.release());
}

void PointEvent::Set(Point point) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  std::swap(state_->point, point);  // the previous point is destroyed after the lock is released
}

Point PointEvent::point() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->point;
}

absl::StatusOr<bool> PointEvent::Query() const {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  const Point now = point();
  if (!now.Reached()) return false;
  HPU_RETURN_IF_ERROR(now.Error());
  return true;
}

absl::Status PointEvent::Synchronize() const {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  return point().Wait();
}

}  // namespace hpu::common
