#include "plugin/testing/synapse_double/runtime/copies.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <utility>

#include "plugin/testing/synapse_double/runtime/device.h"
#include "plugin/testing/synapse_double/runtime/switches.h"

namespace hpu::synapse_double {
namespace {

// A copy with host addresses on both sides. Holds the allocation or mapping of each side.
struct ResolvedCopy {
  const char* source = nullptr;
  char* destination = nullptr;
  uint64_t bytes = 0;
  std::shared_ptr<void> source_use;
  std::shared_ptr<void> destination_use;
};

synStatus ResolveDevice(Device& device, uint64_t address, uint64_t bytes, const char* side, char** data,
                        std::shared_ptr<void>* use) {
  std::shared_ptr<Allocation> allocation = device.memory().Hold(address, bytes);
  if (allocation == nullptr) {
    return Refuse(
        Rule::kCopies, synapse::synInvalidArgument,
        Text("the ", side, ", ", bytes, " bytes at device address ", Hex(address), ", is not inside one allocation"));
  }
  *data = allocation->Data(address);
  *use = std::move(allocation);
  return synapse::synSuccess;
}

synStatus ResolveHost(Device& device, uint64_t address, uint64_t bytes, const char* side, char** data,
                      std::shared_ptr<void>* use) {
  std::shared_ptr<HostRange> range = device.host_memory().Hold(address, bytes);
  if (range == nullptr) {
    return Refuse(Rule::kCopies, synapse::synMappingNotFound,
                  Text("the ", side, ", ", bytes, " bytes at host address ", Hex(address),
                       ", is not inside a range of ", "synHostMalloc or synHostMap"));
  }
  *data = reinterpret_cast<char*>(address);
  *use = std::move(range);
  return synapse::synSuccess;
}

synStatus ResolveCopy(Device& device, const Copy& copy, synapse::synDmaDir direction, ResolvedCopy* resolved) {
  char* source = nullptr;
  const auto resolve_source = direction == synapse::HOST_TO_DRAM ? ResolveHost : ResolveDevice;
  const auto resolve_destination = direction == synapse::DRAM_TO_HOST ? ResolveHost : ResolveDevice;
  synStatus status = resolve_source(device, copy.source, copy.bytes, "source", &source, &resolved->source_use);
  if (status != synapse::synSuccess) return status;
  status = resolve_destination(device, copy.destination, copy.bytes, "destination", &resolved->destination,
                               &resolved->destination_use);
  if (status != synapse::synSuccess) return status;
  resolved->source = source;
  resolved->bytes = copy.bytes;
  const uint64_t distance =
      copy.source > copy.destination ? copy.source - copy.destination : copy.destination - copy.source;
  if (direction == synapse::DRAM_TO_DRAM && distance < copy.bytes) {
    return Refuse(Rule::kCopies, synapse::synInvalidArgument,
                  Text("source ", Hex(copy.source), " and destination ", Hex(copy.destination), " of ", copy.bytes,
                       " bytes overlap"));
  }
  return synapse::synSuccess;
}

Engine EngineOf(synapse::synDmaDir direction) {
  switch (direction) {
    case synapse::HOST_TO_DRAM:
      return Engine::kHostToDevice;
    case synapse::DRAM_TO_HOST:
      return Engine::kDeviceToHost;
    case synapse::DRAM_TO_DRAM:
      return Engine::kDeviceToDevice;
  }
  return Engine::kAll;
}

}  // namespace

synStatus EnqueueCopies(Stream* stream, const std::vector<Copy>& copies, synapse::synDmaDir direction) {
  if (direction > synapse::DRAM_TO_DRAM) {
    return Refuse(Rule::kArguments, synapse::synInvalidArgument,
                  Text("unknown direction ", static_cast<uint32_t>(direction)));
  }
  synStatus status = stream->CheckEngine(EngineOf(direction));
  if (status != synapse::synSuccess) return status;
  const std::shared_ptr<Device> device = Device::Current();
  if (device == nullptr) return Refuse(Rule::kHandles, synapse::synInvalidArgument, "the device was released");
  std::vector<ResolvedCopy> resolved;
  for (const Copy& copy : copies) {
    if (copy.bytes == 0) continue;
    resolved.emplace_back();
    status = ResolveCopy(*device, copy, direction, &resolved.back());
    if (status != synapse::synSuccess) return status;
  }
  if (resolved.size() > 1) {
    std::shuffle(resolved.begin(), resolved.end(), std::mt19937_64(GetSwitches().seed + resolved.size()));
  }
  return stream->Enqueue([resolved = std::move(resolved)] {
    for (const ResolvedCopy& copy : resolved) std::memcpy(copy.destination, copy.source, copy.bytes);
    return synapse::synSuccess;
  });
}

synStatus EnqueueFill(Stream* stream, uint64_t address, uint32_t value, uint64_t element_bytes, uint64_t count) {
  const std::shared_ptr<Device> device = Device::Current();
  if (device == nullptr) return Refuse(Rule::kHandles, synapse::synInvalidArgument, "the device was released");
  if (count > std::numeric_limits<uint64_t>::max() / element_bytes || address % element_bytes != 0) {
    return Refuse(Rule::kArguments, synapse::synInvalidArgument,
                  Text(count, " elements of ", element_bytes, " bytes at ", Hex(address), ": too many or misaligned"));
  }
  if (count == 0) return stream->Enqueue([] { return synapse::synSuccess; });
  char* data = nullptr;
  std::shared_ptr<void> use;
  const synStatus status = ResolveDevice(*device, address, count * element_bytes, "destination", &data, &use);
  if (status != synapse::synSuccess) return status;
  return stream->Enqueue([=] {
    for (uint64_t i = 0; i < count; ++i) std::memcpy(data + i * element_bytes, &value, element_bytes);
    return synapse::synSuccess;
  });
}

}  // namespace hpu::synapse_double
