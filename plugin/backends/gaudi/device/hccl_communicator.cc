#include "plugin/backends/gaudi/device/hccl_communicator.h"

#include <chrono>

#include "plugin/backends/gaudi/hccl/status.h"
#include "plugin/base/log/log.h"
#include "plugin/base/status_macros.h"

namespace hpu::gaudi {

absl::StatusOr<std::unique_ptr<HcclCommunicator>> HcclCommunicator::Create(const hccl::Library& library,
                                                                           const hccl::hcclUniqueId& id, int rank,
                                                                           int size) {
  hccl::hcclComm_t handle = nullptr;
  HPU_RETURN_IF_ERROR(
      HPU_HCCL_CALL(library.functions(), hcclCommInitRank, (&handle, size, id, rank), "size=", size, ", rank=", rank));
  return std::unique_ptr<HcclCommunicator>(new HcclCommunicator(library, handle));
}

HcclCommunicator::~HcclCommunicator() {
  if (is_aborted_) return;
  const absl::Status status = HPU_HCCL_CALL(functions(), hcclCommDestroy, (handle_));
  if (!status.ok()) {
    HPU_LOG(kBackend, kWarning) << "cannot destroy a communicator: " << status.message();
  }
}

bool HcclCommunicator::Begin() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (is_aborted_) return false;
  ++calls_;
  return true;
}

void HcclCommunicator::End() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    --calls_;
  }
  ended_.notify_all();
}

void HcclCommunicator::Abort() {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    if (is_aborted_) return;
    is_aborted_ = true;
    ended_.wait_for(lock, std::chrono::seconds(1), [this] { return calls_ == 0; });
  }
  const absl::Status status = HPU_HCCL_CALL(functions(), hcclCommAbort, (handle_));
  if (!status.ok()) {
    HPU_LOG(kBackend, kWarning) << "cannot abort a communicator: " << status.message();
  }
}

bool HcclCommunicator::is_aborted() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return is_aborted_;
}

absl::Status HcclCommunicator::AsyncError() {
  if (functions().hcclCommGetAsyncError == nullptr) return absl::OkStatus();
  return Run([&](hccl::hcclComm_t handle) -> absl::Status {
    hccl::hcclResult_t error = hccl::hcclSuccess;
    HPU_RETURN_IF_ERROR(HPU_HCCL_CALL(functions(), hcclCommGetAsyncError, (handle, &error)));
    return hccl::ToStatus(functions(), error, "work of the communicator", "");
  });
}

}  // namespace hpu::gaudi
