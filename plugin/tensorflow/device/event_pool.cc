#include "plugin/tensorflow/device/event_pool.h"

#include <utility>

#include "plugin/base/status_macros.h"

namespace hpu {

void EventPool::Return::operator()(hal::Event* event) const {
  std::unique_ptr<hal::Event> owned(event);
  if (pool_ == nullptr) return;
  std::lock_guard<std::mutex> lock(pool_->mutex_);
  pool_->free_.push_back(std::move(owned));
}

absl::StatusOr<EventPool::Lease> EventPool::Acquire() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!free_.empty()) {
      Lease lease(free_.back().release(), Return(this));
      free_.pop_back();
      return lease;
    }
  }
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<hal::Event> event, device_->CreateEvent());
  return Lease(event.release(), Return(this));
}

absl::StatusOr<EventPool::Lease> EventPool::Record(hal::Stream& stream) {
  HPU_ASSIGN_OR_RETURN(Lease event, Acquire());
  HPU_RETURN_IF_ERROR(stream.Record(*event));
  return event;
}

absl::Status EventPool::Order(hal::Stream& earlier, hal::Stream& later) {
  HPU_ASSIGN_OR_RETURN(Lease event, Record(earlier));
  return later.Wait(*event);
}

}  // namespace hpu
