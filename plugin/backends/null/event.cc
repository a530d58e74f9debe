#include "plugin/backends/null/event.h"

#include "plugin/base/status_macros.h"

namespace hpu::null {

absl::StatusOr<bool> NullEvent::Query() const {
  HPU_RETURN_IF_ERROR(Synchronize());
  return true;
}

absl::Status NullEvent::Synchronize() const {
  HPU_RETURN_IF_ERROR(liveness_.Check());
  return status();
}

void NullEvent::Set(const absl::Status& status) {
  if (status.ok() && !failed_.load(std::memory_order_acquire)) return;
  std::lock_guard<std::mutex> lock(mutex_);
  status_ = status;
  failed_.store(!status.ok(), std::memory_order_release);
}

absl::Status NullEvent::status() const {
  if (!failed_.load(std::memory_order_acquire)) return absl::OkStatus();
  std::lock_guard<std::mutex> lock(mutex_);
  return status_;
}

}  // namespace hpu::null
