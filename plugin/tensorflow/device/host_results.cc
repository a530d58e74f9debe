#include "plugin/tensorflow/device/host_results.h"

#include "plugin/base/round_up.h"
#include "plugin/hal/host_results.h"
#include "plugin/tensorflow/device/host_pool.h"
#include "tsl/platform/statusor.h"

namespace hpu {

bool TakesHostResult(ProcessDevice& device, const void* data, uint64_t bytes) {
  constexpr uint64_t kAlignment = hal::HostResults::kHostResultAlignment;
  // Less is copied on the compute stream, at once.
  constexpr uint64_t kMinBytes = 64 << 10;
  if (bytes <= kMinBytes || reinterpret_cast<uintptr_t>(data) % kAlignment != 0) return false;
  // What the pool gives ends at a multiple of the alignment, too.
  return device.host_pool().Contains(data, hal::RoundUp(bytes, kAlignment)) &&
         dynamic_cast<hal::HostResults*>(&device.hal()) != nullptr;
}

absl::Status WaitForHostResults(ProcessDevice& device) {
  TF_ASSIGN_OR_RETURN(EventPool::Lease end, device.events().Record(device.compute()));
  absl::Status status = end->Synchronize();
  if (!status.ok()) device.Synchronize().IgnoreError();  // it has been reported: nobody is to meet it again
  return status;
}

}  // namespace hpu
