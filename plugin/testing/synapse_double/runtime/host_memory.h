// Host memory that a device may copy from and to: ranges of synHostMalloc and synHostMap.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_HOST_MEMORY_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_HOST_MEMORY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "plugin/testing/synapse_double/runtime/in_flight.h"
#include "plugin/testing/synapse_double/runtime/status.h"

namespace hpu::synapse_double {

// A mapped range. Owns the memory of synHostMalloc; borrows the memory of synHostMap.
class HostRange : public InFlight {
 public:
  HostRange(uint64_t address, uint64_t bytes, uint64_t owned_bytes)
      : address_(address), bytes_(bytes), owned_bytes_(owned_bytes) {}
  ~HostRange();

  uint64_t address() const { return address_; }
  uint64_t bytes() const { return bytes_; }
  bool is_owned() const { return owned_bytes_ > 0; }
  bool Contains(uint64_t address, uint64_t bytes) const {
    return address >= address_ && bytes <= bytes_ && address - address_ <= bytes_ - bytes;
  }

 private:
  const uint64_t address_;
  const uint64_t bytes_;
  const uint64_t owned_bytes_;  // of the mmap, which ends with a page without access
};

// Thread safe.
class HostMemory {
 public:
  synStatus Allocate(uint64_t bytes, void** buffer);
  synStatus Free(const void* buffer);
  synStatus Map(const void* buffer, uint64_t bytes);
  synStatus Unmap(const void* buffer);
  // Holds the mapped range that contains the bytes (rule 20); null if there is none.
  std::shared_ptr<HostRange> Hold(uint64_t address, uint64_t bytes);

 private:
  synStatus Remove(const void* buffer, bool owned, synStatus unknown);

  std::mutex mutex_;
  std::map<uint64_t, std::shared_ptr<HostRange>> ranges_;  // by address; they do not overlap
};

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_HOST_MEMORY_H_
