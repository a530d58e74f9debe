#include "plugin/backends/emulator/device/event.h"

#include <utility>

#include "plugin/base/status_macros.h"

namespace hpu::emulator {

EmulatorEvent::~EmulatorEvent() {
  // Leaks the state in a forked child. The timeline's last reference destroys a condition variable, whose destructor
  // never returns if a thread was waiting on the variable at the time of the fork.
  if (liveness_.forked()) static_cast<void>(state_.release());
}

void EmulatorEvent::Set(common::Point point) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  std::swap(state_->point, point);  // the previous point is destroyed after the lock is released
}

common::Point EmulatorEvent::point() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->point;
}

absl::StatusOr<bool> EmulatorEvent::Query() const {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  const common::Point now = point();
  if (!now.Reached()) return false;
  HPU_RETURN_IF_ERROR(now.Error());
  return true;
}

absl::Status EmulatorEvent::Synchronize() const {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  return point().Wait();
}

}  // namespace hpu::emulator
