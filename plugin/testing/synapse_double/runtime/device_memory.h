// Device memory: allocations at addresses that the host cannot reach, backed by host memory elsewhere.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_DEVICE_MEMORY_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_DEVICE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "plugin/testing/synapse_double/runtime/in_flight.h"
#include "plugin/testing/synapse_double/runtime/status.h"

namespace hpu::synapse_double {

// Alignment of device addresses.
inline constexpr uint64_t kAddressAlignment = 128;
// Fill of fresh memory: signalling NaN as bf16 and f32, NaN as f16, far out of range as an index.
inline constexpr uint16_t kPoison = 0x7FBF;

// Address range of a device's memory. The host's processors have no such addresses, so a dereference faults.
inline constexpr uint64_t kDeviceMemoryBase = 0x1001'0000'0000'0000;
inline constexpr uint64_t kDeviceMemoryEnd = 0x1002'0000'0000'0000;

// Owns the memory of one synDeviceMalloc.
class Allocation : public InFlight {
 public:
  static std::shared_ptr<Allocation> Create(uint64_t address, uint64_t bytes);  // null if the host has no memory
  ~Allocation();

  uint64_t address() const { return address_; }
  uint64_t bytes() const { return bytes_; }
  bool Contains(uint64_t address, uint64_t bytes) const {
    return address >= address_ && bytes <= bytes_ && address - address_ <= bytes_ - bytes;
  }
  // Host memory of a device address inside the allocation.
  char* Data(uint64_t address) const { return data_ + (address - address_); }

 private:
  Allocation(uint64_t address, uint64_t bytes, void* mapping, uint64_t mapped_bytes);

  const uint64_t address_;
  const uint64_t bytes_;
  void* const mapping_;
  const uint64_t mapped_bytes_;
  char* const data_;
};

// Thread safe. Addresses are never reused, so every use after free is found.
class DeviceMemory {
 public:
  explicit DeviceMemory(uint64_t capacity) : capacity_(capacity) {}

  synStatus Allocate(uint64_t bytes, uint64_t* address);
  // `address` must be the beginning of an allocation. Aborts (rule 20) if queued work uses it.
  synStatus Free(uint64_t address);
  // Holds the allocation that contains the range (rule 20); null if there is none.
  std::shared_ptr<Allocation> Hold(uint64_t address, uint64_t bytes);

  uint64_t capacity() const { return capacity_; }
  uint64_t free_bytes();

 private:
  const uint64_t capacity_;
  std::mutex mutex_;
  std::map<uint64_t, std::shared_ptr<Allocation>> allocations_;  // by address
  uint64_t used_ = 0;
  uint64_t next_ = kDeviceMemoryBase;
};

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_DEVICE_MEMORY_H_
