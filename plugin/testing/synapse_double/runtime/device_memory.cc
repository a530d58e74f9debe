#include "plugin/testing/synapse_double/runtime/device_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace hpu::synapse_double {
namespace {

constexpr uint64_t kPageBytes = 4096;
// Size of the poison file, which all allocations map copy-on-write, so that fresh memory costs no host memory.
constexpr uint64_t kPoisonBytes = uint64_t{8} << 20;

uint64_t RoundUp(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

// File descriptor of the poison file; -1 if it cannot be made. Never closed.
int MakePoisonFile() {
  const int file = memfd_create("synapse_double_poison", MFD_CLOEXEC);
  if (file < 0) return -1;
  const std::vector<uint16_t> page(kPageBytes / sizeof(uint16_t), kPoison);
  for (uint64_t i = 0; i < kPoisonBytes / kPageBytes; ++i) {
    if (write(file, page.data(), kPageBytes) != static_cast<ssize_t>(kPageBytes)) return -1;
  }
  return file;
}

// Maps poisoned memory. Null if the host has none.
void* MapPoison(uint64_t bytes) {
  static const int file = MakePoisonFile();
  void* const mapping =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED || file < 0) return nullptr;
  for (uint64_t offset = 0; offset < bytes; offset += kPoisonBytes) {
    void* const part = mmap(static_cast<char*>(mapping) + offset, std::min(kPoisonBytes, bytes - offset),
                            PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file, 0);
    if (part == MAP_FAILED) {
      munmap(mapping, bytes);
      return nullptr;
    }
  }
  return mapping;
}

}  // namespace

std::shared_ptr<Allocation> Allocation::Create(uint64_t address, uint64_t bytes) {
  // The data begins at the address's offset in a page, so it has no better alignment than the address.
  const uint64_t mapped_bytes = RoundUp(address % kPageBytes + bytes, kPageBytes);
  void* const mapping = MapPoison(mapped_bytes);
  if (mapping == nullptr) return nullptr;
  return std::shared_ptr<Allocation>(new Allocation(address, bytes, mapping, mapped_bytes));
}

Allocation::Allocation(uint64_t address, uint64_t bytes, void* mapping, uint64_t mapped_bytes)
    : address_(address),
      bytes_(bytes),
      mapping_(mapping),
      mapped_bytes_(mapped_bytes),
      data_(static_cast<char*>(mapping) + address % kPageBytes) {}

Allocation::~Allocation() { munmap(mapping_, mapped_bytes_); }

synStatus DeviceMemory::Allocate(uint64_t bytes, uint64_t* address) {
  std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t occupied = RoundUp(std::min(bytes, capacity_ + 1), kAddressAlignment);
  if (occupied > capacity_ - used_) {
    return Fail(
        Rule::kArguments, synapse::synOutOfDeviceMemory,
        Text("out of device memory: ", bytes, " bytes requested, ", capacity_ - used_, " of ", capacity_, " are free"));
  }
  // Odd multiples of the alignment, with a gap after each allocation.
  const uint64_t begin = RoundUp(next_, 2 * kAddressAlignment) + kAddressAlignment;
  std::shared_ptr<Allocation> allocation = Allocation::Create(begin, bytes);
  if (allocation == nullptr || begin + occupied >= kDeviceMemoryEnd) {
    return Fail(Rule::kArguments, synapse::synOutOfHostMemory, Text("out of host memory: ", bytes, " bytes requested"));
  }
  allocations_[begin] = std::move(allocation);
  used_ += occupied;
  next_ = begin + occupied + kPageBytes;
  *address = begin;
  return synapse::synSuccess;
}

synStatus DeviceMemory::Free(uint64_t address) {
  std::shared_ptr<Allocation> freed;  // unmapped after the lock
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) {
    return Refuse(Rule::kArguments, synapse::synInvalidArgument,
                  Text("no allocation begins at ", Hex(address), ": never allocated, or freed before"));
  }
  if (found->second->is_in_flight()) {
    Abort(Rule::kInFlight, Text("queued work uses the allocation at ", Hex(address)));
  }
  used_ -= RoundUp(found->second->bytes(), kAddressAlignment);
  freed = std::move(found->second);
  allocations_.erase(found);
  return synapse::synSuccess;
}

std::shared_ptr<Allocation> DeviceMemory::Hold(uint64_t address, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = allocations_.upper_bound(address);
  if (found == allocations_.begin()) return nullptr;
  --found;
  return found->second->Contains(address, bytes) ? HoldInFlight(found->second) : nullptr;
}

uint64_t DeviceMemory::free_bytes() {
  std::lock_guard<std::mutex> lock(mutex_);
  return capacity_ - used_;
}

}  // namespace hpu::synapse_double
