#include "plugin/testing/synapse_double/runtime/host_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace hpu::synapse_double {
namespace {

constexpr uint64_t kHostPageBytes = 4096;
// Fill of fresh memory, for the first kFreshBytes of a buffer.
constexpr int kFreshByte = 0xBF;
constexpr uint64_t kFreshBytes = uint64_t{1} << 20;

}  // namespace

HostRange::~HostRange() {
  if (is_owned()) munmap(reinterpret_cast<void*>(address_), owned_bytes_);
}

synStatus HostMemory::Allocate(uint64_t bytes, void** buffer) {
  const uint64_t data_bytes = (bytes + kHostPageBytes - 1) / kHostPageBytes * kHostPageBytes;
  const uint64_t owned_bytes = data_bytes + kHostPageBytes;
  void* const data = bytes > owned_bytes
                         ? MAP_FAILED
                         : mmap(nullptr, owned_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    return Fail(Rule::kArguments, synapse::synOutOfHostMemory, Text("out of host memory: ", bytes, " bytes requested"));
  }
  mprotect(static_cast<char*>(data) + data_bytes, kHostPageBytes, PROT_NONE);
  // SynapseAI does not promise zeros.
  std::memset(data, kFreshByte, std::min(bytes, kFreshBytes));
  std::lock_guard<std::mutex> lock(mutex_);
  const auto address = reinterpret_cast<uint64_t>(data);
  ranges_[address] = std::make_shared<HostRange>(address, bytes, owned_bytes);
  *buffer = data;
  return synapse::synSuccess;
}

synStatus HostMemory::Map(const void* buffer, uint64_t bytes) {
  const auto address = reinterpret_cast<uint64_t>(buffer);
  std::lock_guard<std::mutex> lock(mutex_);
  auto next = ranges_.upper_bound(address);
  if (next != ranges_.end() && next->first - address < bytes) {
    return Refuse(Rule::kArguments, synapse::synInvalidArgument,
                  Text(bytes, " bytes at ", Hex(address), " overlap the mapped range at ", Hex(next->first)));
  }
  if (next != ranges_.begin() && std::prev(next)->second->Contains(address, 1)) {
    return Refuse(Rule::kArguments, synapse::synInvalidArgument,
                  Text(Hex(address), " is inside the mapped range at ", Hex(std::prev(next)->first)));
  }
  ranges_[address] = std::make_shared<HostRange>(address, bytes, 0);
  return synapse::synSuccess;
}

synStatus HostMemory::Free(const void* buffer) { return Remove(buffer, true, synapse::synInvalidArgument); }

synStatus HostMemory::Unmap(const void* buffer) { return Remove(buffer, false, synapse::synMappingNotFound); }

synStatus HostMemory::Remove(const void* buffer, bool owned, synStatus unknown) {
  const auto address = reinterpret_cast<uint64_t>(buffer);
  std::shared_ptr<HostRange> removed;  // unmapped after the lock
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = ranges_.find(address);
  if (found == ranges_.end() || found->second->is_owned() != owned) {
    return Refuse(Rule::kArguments, unknown,
                  Text("no range of ", owned ? "synHostMalloc" : "synHostMap", " begins at ", Hex(address)));
  }
  if (found->second->is_in_flight()) Abort(Rule::kInFlight, Text("queued work uses the range at ", Hex(address)));
  removed = std::move(found->second);
  ranges_.erase(found);
  return synapse::synSuccess;
}

std::shared_ptr<HostRange> HostMemory::Hold(uint64_t address, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = ranges_.upper_bound(address);
  if (found == ranges_.begin()) return nullptr;
  --found;
  return found->second->Contains(address, bytes) ? HoldInFlight(found->second) : nullptr;
}

}  // namespace hpu::synapse_double
