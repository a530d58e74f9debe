// CardRange: one owned range of a card's memory, from synDeviceMalloc.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_CARD_RANGE_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_CARD_RANGE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "plugin/backends/gaudi/synapse/library.h"

namespace hpu::gaudi {

// Free and total bytes of a card's memory.
struct CardMemoryInfo {
  uint64_t free_bytes = 0;
  uint64_t total_bytes = 0;
};

absl::StatusOr<CardMemoryInfo> GetCardMemoryInfo(const synapse::Functions& functions, synapse::synDeviceId device);

// Borrows the function table. The destructor frees the range; work that uses it must have ended.
class CardRange {
 public:
  // ResourceExhausted if the card lacks the bytes; the error names the settings to change.
  static absl::StatusOr<std::unique_ptr<CardRange>> Allocate(const synapse::Functions& functions,
                                                             synapse::synDeviceId device, uint64_t bytes);
  // Allocates `bytes`, or at least three quarters of them if SynapseAI cannot allocate all that it reports as free.
  static absl::StatusOr<std::unique_ptr<CardRange>> AllocateUpTo(const synapse::Functions& functions,
                                                                 synapse::synDeviceId device, uint64_t bytes);
  ~CardRange();
  CardRange(const CardRange&) = delete;
  CardRange& operator=(const CardRange&) = delete;

  uint64_t address() const { return address_; }  // the card's address of the first byte
  uint64_t bytes() const { return bytes_; }

 private:
  CardRange(const synapse::Functions& functions, synapse::synDeviceId device, uint64_t address, uint64_t bytes)
      : functions_(functions), device_(device), address_(address), bytes_(bytes) {}

  const synapse::Functions& functions_;
  const synapse::synDeviceId device_;
  const uint64_t address_;
  const uint64_t bytes_;
};

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_CARD_RANGE_H_
