// HostValues: small values that the host wrote to the memory of a null device.
#ifndef HPU_PLUGIN_BACKENDS_NULL_HOST_VALUES_H_
#define HPU_PLUGIN_BACKENDS_NULL_HOST_VALUES_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "plugin/hal/device_traits.h"
#include "plugin/hal/types.h"

namespace hpu::null {

// Some programs write counts, steps and batch sizes, read them back, and fail if the values are 0. Bytes that are not
// stored read as zeros. Thread safe.
class HostValues final : public hal::FreedRanges {
 public:
  // Larger writes are not stored, because control flow depends on small values only.
  static constexpr uint64_t kMaxBytes = 4096;

  void Write(hal::DeviceAddress destination, const void* source, uint64_t bytes);
  void Fill(hal::DeviceAddress destination, uint8_t value, uint64_t bytes);
  void Copy(hal::DeviceAddress source, hal::DeviceAddress destination, uint64_t bytes);
  void Read(hal::DeviceAddress source, void* destination, uint64_t bytes) const;
  // Drops all values that overlap the range.
  void Erase(hal::DeviceAddress address, uint64_t bytes);
  void RangeFreed(hal::DeviceAddress address, uint64_t bytes) override { Erase(address, bytes); }

 private:
  using Values = std::map<hal::DeviceAddress, std::string>;  // disjoint, by first address

  // First value that may overlap `address` or begins after it.
  Values::const_iterator FirstOverlapping(hal::DeviceAddress address) const;
  void EraseLocked(hal::DeviceAddress address, uint64_t bytes);

  mutable std::mutex mutex_;
  Values values_;  // guarded by mutex_
};

}  // namespace hpu::null

#endif  // HPU_PLUGIN_BACKENDS_NULL_HOST_VALUES_H_
