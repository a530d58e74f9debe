#include "plugin/backends/gaudi/device/card_range.h"

#include "absl/strings/str_cat.h"
#include "plugin/base/log/log.h"
#include "plugin/base/round_up.h"
#include "plugin/base/status_macros.h"
#include "plugin/hal/types.h"

namespace hpu::gaudi {

absl::StatusOr<CardMemoryInfo> GetCardMemoryInfo(const synapse::Functions& functions, synapse::synDeviceId device) {
  CardMemoryInfo info;
  HPU_RETURN_IF_ERROR(HPU_SYNAPSE_CALL(functions, synDeviceGetMemoryInfo, (device, &info.free_bytes, &info.total_bytes),
                                       "device=", device));
  return info;
}

absl::StatusOr<std::unique_ptr<CardRange>> CardRange::Allocate(const synapse::Functions& functions,
                                                               synapse::synDeviceId device, uint64_t bytes) {
  uint64_t address = 0;
  if (absl::Status status = HPU_SYNAPSE_CALL(functions, synDeviceMalloc, (device, bytes, 0, 0, &address),
                                             "size=", bytes, ", device=", device);
      !status.ok()) {
    if (!absl::IsResourceExhausted(status)) return status;
    return absl::ResourceExhaustedError(absl::StrCat("cannot reserve ", bytes >> 20,
                                                     " MiB of the card's memory: ", status.message(),
                                                     "; lower HPU_MEMORY_MB, or raise TF_HCCL_MEMORY_ALLOWANCE_MB"));
  }
  std::unique_ptr<CardRange> range(new CardRange(functions, device, address, bytes));
  if (address % hal::kDeviceAlignment == 0) return range;
  return absl::InternalError(absl::StrCat("synDeviceMalloc(size=", bytes, ") returned the address 0x",
                                          absl::Hex(address), ", which is not a multiple of ", hal::kDeviceAlignment,
                                          "; install a supported SynapseAI release"));
}

absl::StatusOr<std::unique_ptr<CardRange>> CardRange::AllocateUpTo(const synapse::Functions& functions,
                                                                   synapse::synDeviceId device, uint64_t bytes) {
  constexpr int kParts = 16;
  constexpr int kMinParts = 12;
  absl::StatusOr<std::unique_ptr<CardRange>> range = Allocate(functions, device, bytes);
  for (int parts = kParts - 1; parts >= kMinParts && absl::IsResourceExhausted(range.status()); --parts) {
    HPU_LOG(kBackend, kWarning) << range.status().message() << "; retrying with " << parts << "/" << kParts
                                << " of the size";
    range = Allocate(functions, device, RoundUp(bytes / kParts * parts, hal::kDeviceAlignment));
  }
  return range;
}

CardRange::~CardRange() {
  if (const absl::Status status = HPU_SYNAPSE_CALL(functions_, synDeviceFree, (device_, address_, 0),
                                                   "address=", address_, ", device=", device_);
      !status.ok()) {
    HPU_LOG(kBackend, kWarning) << "cannot free the card's memory: " << status.message();
  }
}

}  // namespace hpu::gaudi
