#include "plugin/backends/remote/event.h"

#include <utility>

#include "plugin/base/status_macros.h"

namespace hpu::remote {

RemoteEvent::~RemoteEvent() {
  if (session_->liveness().forked()) static_cast<void>(state_.release());
}

void RemoteEvent::Set(Moment moment) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  std::swap(state_->moment, moment);  // the previous Moment is destroyed after the lock is released
}

RemoteEvent::Moment RemoteEvent::moment() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->moment;
}

absl::StatusOr<bool> RemoteEvent::Query() const {
  HPU_RETURN_IF_ERROR(session_->liveness().Check());
  const common::Point now = moment().point;
  if (!now.Reached()) return false;
  HPU_RETURN_IF_ERROR(now.Error());
  return true;
}

absl::Status RemoteEvent::Synchronize() const {
  HPU_RETURN_IF_ERROR(session_->liveness().Check());
  return moment().point.Wait();
}

}  // namespace hpu::remote
