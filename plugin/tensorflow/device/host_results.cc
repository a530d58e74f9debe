#include "plugin/tensorflow/device/host_results.h"

#include "plugin/base/round_up.h"
#include "plugin/tensorflow/device/host_pool.h"
#include "tsl/platform/statusor.h"

namespace hpu {

bool TakesHostResult(ProcessDevice& device, const void* data, uint64_t bytes) {
  constexpr uint64_t kAlignment = hal::HostResults::kHostResultAlignment;
  // Smaller results are copied on the compute stream at once.
  constexpr uint64_t kMinBytes = 64 << 10;
  if (bytes <= kMinBytes || reinterpret_cast<uintptr_t>(data) % kAlignment != 0) return false;
  // Pieces of the pool also end at a multiple of the alignment.
  return device.host_pool().Contains(data, hal::RoundUp(bytes, kAlignment)) && device.traits().host_results != nullptr;
}

absl::Status WaitForHostResults(ProcessDevice& device) {
  TF_ASSIGN_OR_RETURN(EventPool::Lease end, device.events().Record(device.compute()));
  absl::Status status = end->Synchronize();
  if (!status.ok()) device.Synchronize().IgnoreError();  // already reported: clear it for later work
  return status;
}

}  // namespace hpu
