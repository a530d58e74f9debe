#include "plugin/tensorflow/device/host_results.h"

#include "plugin/base/round_up.h"
#include "plugin/base/status_macros.h"
#include "plugin/tensorflow/device/host_pool.h"

namespace hpu {

bool SupportsHostResult(ProcessDevice& device, const void* data, uint64_t bytes) {
  constexpr uint64_t kAlignment = hal::HostResults::kHostResultAlignment;
  // Results up to this size are cheaper to copy on the compute stream.
  constexpr uint64_t kMinBytes = 64 << 10;
  if (bytes <= kMinBytes || reinterpret_cast<uintptr_t>(data) % kAlignment != 0) return false;
  // The device may write up to the next multiple of the alignment, which still belongs to the same allocation of the
  // pool.
  return device.host_pool().Contains(data, RoundUp(bytes, kAlignment)) && device.traits().host_results != nullptr;
}

absl::Status WaitForHostResults(ProcessDevice& device) {
  HPU_ASSIGN_OR_RETURN(EventPool::Lease end, device.events().Record(device.compute()));
  absl::Status status = end->Synchronize();
  if (!status.ok()) device.Synchronize().IgnoreError();  // clears the error for later work
  return status;
}

}  // namespace hpu
