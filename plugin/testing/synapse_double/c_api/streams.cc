// C functions: streams and their affinity.
#include <memory>

#include "plugin/testing/synapse_double/c_api/exports.h"
#include "plugin/testing/synapse_double/runtime/device.h"
#include "plugin/testing/synapse_double/runtime/event.h"
#include "plugin/testing/synapse_double/runtime/handles.h"
#include "plugin/testing/synapse_double/runtime/process.h"
#include "plugin/testing/synapse_double/runtime/stream.h"

namespace hpu::synapse {
namespace {

using synapse_double::Device;
using synapse_double::Engine;
using synapse_double::Event;
using synapse_double::Handles;
using synapse_double::Refuse;
using synapse_double::Rule;
using synapse_double::Stream;
using synapse_double::Text;

synStatus CreateStream(synStreamHandle* stream, synDeviceId device, Engine engine, uint32_t flags) {
  std::shared_ptr<Device> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Device::Find(device, &found));
  SYNAPSE_DOUBLE_REQUIRE_POINTER(stream);
  if (flags != 0) return Refuse(Rule::kArguments, synInvalidArgument, Text("flags must be 0, found ", flags));
  *stream = Handles::Get().Add<synStreamHandle>(std::make_shared<Stream>(engine, found->NextStreamSerial()));
  return synSuccess;
}

}  // namespace

synStatus synStreamDestroy(const synStreamHandle stream) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Stream> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(stream, &found));
  if (!found->Drain()) return Refuse(Rule::kInFlight, synBusy, "the stream has queued work");
  Handles::Get().Remove(stream);
  return synSuccess;
}

synStatus synStreamSynchronize(const synStreamHandle stream) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Stream> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(stream, &found));
  return found->Synchronize();
}

synStatus synStreamQuery(const synStreamHandle stream) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Stream> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(stream, &found));
  return found->Query();
}

synStatus synStreamWaitEvent(const synStreamHandle stream, synEventHandle event, const uint32_t flags) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Stream> found_stream;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(stream, &found_stream));
  std::shared_ptr<Event> found_event;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(event, &found_event));
  if (flags != 0) return Refuse(Rule::kArguments, synInvalidArgument, Text("flags must be 0, found ", flags));
  return found_event->WaitOn(found_stream.get());
}

#ifdef SYNAPSE_DOUBLE_1_5

synStatus synStreamCreate(synStreamHandle* stream, const synDeviceId device, const uint32_t type,
                          const uint32_t flags) {
  SYNAPSE_DOUBLE_CALL();
  switch (type) {
    case STREAM_TYPE_COPY_DEVICE_TO_HOST:
      return CreateStream(stream, device, Engine::kDeviceToHost, flags);
    case STREAM_TYPE_COPY_HOST_TO_DEVICE:
      return CreateStream(stream, device, Engine::kHostToDevice, flags);
    case STREAM_TYPE_COPY_DEVICE_TO_DEVICE:
      return CreateStream(stream, device, Engine::kDeviceToDevice, flags);
    case STREAM_TYPE_COMPUTE:
      return CreateStream(stream, device, Engine::kCompute, flags);
    case STREAM_TYPE_NETWORK_COLLECTIVE:
      return CreateStream(stream, device, Engine::kCollective, flags);
    default:
      return Refuse(Rule::kArguments, synInvalidArgument, Text("no stream type ", type));
  }
}

#else

namespace {

// Arbitrary: four queues.
constexpr uint64_t kAffinityMask = 0xF;

}  // namespace

synStatus synStreamCreateGeneric(synStreamHandle* stream, const synDeviceId device, const uint32_t flags) {
  SYNAPSE_DOUBLE_CALL();
  return CreateStream(stream, device, Engine::kAll, flags);
}

synStatus synDeviceGetAffinityMaskRange(const synDeviceId device, uint64_t* mask) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Device> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Device::Find(device, &found));
  SYNAPSE_DOUBLE_REQUIRE_POINTER(mask);
  *mask = kAffinityMask;
  return synSuccess;
}

synStatus synDeviceGetNextStreamAffinity(const synDeviceId device, uint64_t* mask) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Device> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Device::Find(device, &found));
  SYNAPSE_DOUBLE_REQUIRE_POINTER(mask);
  *mask = found->NextAffinity(kAffinityMask);
  return synSuccess;
}

synStatus synStreamSetAffinity(const synDeviceId device, const synStreamHandle stream, uint64_t mask) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Device> found_device;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Device::Find(device, &found_device));
  std::shared_ptr<Stream> found_stream;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(stream, &found_stream));
  if (mask == 0 || (mask & ~kAffinityMask) != 0) {
    return Refuse(Rule::kArguments, synInvalidArgument,
                  Text("mask ", synapse_double::Hex(mask), " is empty or exceeds the range ",
                       synapse_double::Hex(kAffinityMask)));
  }
  found_stream->set_affinity(mask);
  return synSuccess;
}

synStatus synStreamGetAffinity(const synDeviceId device, const synStreamHandle stream, uint64_t* mask) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Device> found_device;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Device::Find(device, &found_device));
  std::shared_ptr<Stream> found_stream;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(stream, &found_stream));
  SYNAPSE_DOUBLE_REQUIRE_POINTER(mask);
  *mask = found_stream->affinity() == 0 ? kAffinityMask : found_stream->affinity();
  return synSuccess;
}

#endif

}  // namespace hpu::synapse
