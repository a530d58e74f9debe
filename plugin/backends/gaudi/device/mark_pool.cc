#include "plugin/backends/gaudi/device/mark_pool.h"

#include "plugin/base/status_macros.h"

namespace hpu::gaudi {

Mark::Mark(std::shared_ptr<MarkPool> pool, synapse::OwnedEvent event)
    : pool_(std::move(pool)), event_(std::move(event)) {}

Mark::~Mark() { pool_->Return(std::move(event_)); }

absl::Status Mark::Record(synapse::synStreamHandle stream) const {
  return HPU_SYNAPSE_CALL(pool_->functions_, synEventRecord, (event_.get(), stream));
}

absl::Status Mark::WaitOn(synapse::synStreamHandle stream) const {
  return HPU_SYNAPSE_CALL(pool_->functions_, synStreamWaitEvent, (stream, event_.get(), 0));
}

absl::Status Mark::Synchronize() const {
  return HPU_SYNAPSE_CALL(pool_->functions_, synEventSynchronize, (event_.get()));
}

absl::StatusOr<std::shared_ptr<Mark>> MarkPool::Acquire() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!free_.empty()) {
      synapse::OwnedEvent event = std::move(free_.back());
      free_.pop_back();
      return std::make_shared<Mark>(shared_from_this(), std::move(event));
    }
  }
  synapse::synEventHandle handle = nullptr;
  HPU_RETURN_IF_ERROR(HPU_SYNAPSE_CALL(functions_, synEventCreate, (&handle, device_, 0), "device=", device_));
  return std::make_shared<Mark>(shared_from_this(), synapse::OwnedEvent(&functions_, handle));
}

void MarkPool::Return(synapse::OwnedEvent event) {
  std::lock_guard<std::mutex> lock(mutex_);
  free_.push_back(std::move(event));
}

}  // namespace hpu::gaudi
