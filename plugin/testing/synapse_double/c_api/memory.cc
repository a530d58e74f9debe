// C functions: device memory, host memory, copies and fills.
#include <vector>

#include "plugin/testing/synapse_double/c_api/exports.h"
#include "plugin/testing/synapse_double/runtime/copies.h"
#include "plugin/testing/synapse_double/runtime/device.h"
#include "plugin/testing/synapse_double/runtime/handles.h"
#include "plugin/testing/synapse_double/runtime/process.h"
#include "plugin/testing/synapse_double/runtime/stream.h"

namespace hpu::synapse {
namespace {

using synapse_double::Copy;
using synapse_double::Device;
using synapse_double::Handles;
using synapse_double::Refuse;
using synapse_double::Rule;
using synapse_double::Stream;
using synapse_double::Text;

synStatus CheckFlags(uint32_t flags) {
  if (flags == 0) return synSuccess;
  return Refuse(Rule::kArguments, synInvalidArgument, Text("flags must be 0, found ", flags));
}

synStatus CheckSize(uint64_t size) {
  if (size > 0) return synSuccess;
  return Refuse(Rule::kArguments, synInvalidArgument, "size is 0");
}

template <typename Value>
synStatus Fill(uint64_t address, Value value, size_t count, synStreamHandle stream) {
  std::shared_ptr<Stream> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(stream, &found));
  return synapse_double::EnqueueFill(found.get(), address, value, sizeof(Value), count);
}

}  // namespace

synStatus synDeviceMalloc(const synDeviceId device, const uint64_t size, uint64_t requested_address,
                          const uint32_t flags, uint64_t* buffer) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Device> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Device::Find(device, &found));
  SYNAPSE_DOUBLE_REQUIRE_POINTER(buffer);
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(CheckFlags(flags));
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(CheckSize(size));
  if (requested_address % synapse_double::kAddressAlignment != 0) {
    return Refuse(Rule::kArguments, synInvalidArgument,
                  Text("requested address ", synapse_double::Hex(requested_address), " is not a multiple of ",
                       synapse_double::kAddressAlignment));
  }
  // The requested address is a hint, which the double ignores.
  return found->memory().Allocate(size, buffer);
}

synStatus synDeviceFree(const synDeviceId device, const uint64_t buffer, const uint32_t flags) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Device> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Device::Find(device, &found));
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(CheckFlags(flags));
  return found->memory().Free(buffer);
}

synStatus synHostMalloc(const synDeviceId device, const uint64_t size, const uint32_t flags, void** buffer) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Device> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Device::Find(device, &found));
  SYNAPSE_DOUBLE_REQUIRE_POINTER(buffer);
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(CheckFlags(flags));
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(CheckSize(size));
  return found->host_memory().Allocate(size, buffer);
}

synStatus synHostFree(const synDeviceId device, const void* buffer, const uint32_t flags) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Device> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Device::Find(device, &found));
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(CheckFlags(flags));
  return found->host_memory().Free(buffer);
}

synStatus synHostMap(const synDeviceId device, const uint64_t size, const void* buffer) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Device> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Device::Find(device, &found));
  SYNAPSE_DOUBLE_REQUIRE_POINTER(buffer);
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(CheckSize(size));
  return found->host_memory().Map(buffer, size);
}

synStatus synHostUnmap(const synDeviceId device, const void* buffer) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Device> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Device::Find(device, &found));
  return found->host_memory().Unmap(buffer);
}

synStatus synMemCopyAsync(const synStreamHandle stream, const uint64_t source, const uint64_t size,
                          const uint64_t destination, const synDmaDir direction) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Stream> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(stream, &found));
  return synapse_double::EnqueueCopies(found.get(), {Copy{source, size, destination}}, direction);
}

synStatus synMemCopyAsyncMultiple(const synStreamHandle stream, const uint64_t* sources, const uint64_t* sizes,
                                  const uint64_t* destinations, const synDmaDir direction, const uint64_t count) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Stream> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(stream, &found));
  SYNAPSE_DOUBLE_REQUIRE_POINTER(sources);
  SYNAPSE_DOUBLE_REQUIRE_POINTER(sizes);
  SYNAPSE_DOUBLE_REQUIRE_POINTER(destinations);
  std::vector<Copy> copies;
  for (uint64_t i = 0; i < count; ++i) copies.push_back(Copy{sources[i], sizes[i], destinations[i]});
  return synapse_double::EnqueueCopies(found.get(), copies, direction);
}

synStatus synMemsetD8Async(uint64_t address, const unsigned char value, const size_t count,
                           const synStreamHandle stream) {
  SYNAPSE_DOUBLE_CALL();
  return Fill<uint8_t>(address, value, count, stream);
}

synStatus synMemsetD16Async(uint64_t address, const uint16_t value, const size_t count, const synStreamHandle stream) {
  SYNAPSE_DOUBLE_CALL();
  return Fill<uint16_t>(address, value, count, stream);
}

synStatus synMemsetD32Async(uint64_t address, const uint32_t value, const size_t count, const synStreamHandle stream) {
  SYNAPSE_DOUBLE_CALL();
  return Fill<uint32_t>(address, value, count, stream);
}

}  // namespace hpu::synapse
