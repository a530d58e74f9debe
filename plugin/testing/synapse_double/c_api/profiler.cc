// C functions: the profiler. Traces hold as many entries as commands and measurements; their content is kPoison.
#include <chrono>
#include <cstring>
#include <memory>

#include "plugin/testing/synapse_double/c_api/exports.h"
#include "plugin/testing/synapse_double/runtime/device.h"
#include "plugin/testing/synapse_double/runtime/process.h"

namespace hpu::synapse {
namespace {

using synapse_double::Device;
using synapse_double::kPoison;
using synapse_double::kTraceEntryBytes;
using synapse_double::Refuse;
using synapse_double::Rule;
using synapse_double::Text;

synStatus CheckType(synTraceType type) {
  if (type >= synTraceAll && type <= synTraceDevice) return synSuccess;
  return Refuse(Rule::kArguments, synInvalidArgument, Text("no trace type ", static_cast<uint32_t>(type)));
}

// Counts an entry in the trace of the acquired device, if there is one.
synStatus AddEntry(const char* description) {
  SYNAPSE_DOUBLE_REQUIRE_POINTER(description);
  if (const std::shared_ptr<Device> device = Device::Current()) device->trace().Add();
  return synSuccess;
}

}  // namespace

synStatus synProfilerStart(const synTraceType type, const synDeviceId device) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Device> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Device::Find(device, &found));
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(CheckType(type));
  if (found->trace().is_running()) return Refuse(Rule::kArguments, synFail, "the profiler runs");
  found->trace().Start();
  return synSuccess;
}

synStatus synProfilerStop(const synTraceType type, const synDeviceId device) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Device> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Device::Find(device, &found));
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(CheckType(type));
  if (!found->trace().is_running()) return Refuse(Rule::kArguments, synFail, "the profiler does not run");
  found->trace().Stop();
  return synSuccess;
}

synStatus synProfilerGetTrace(const synTraceType type, const synDeviceId device, const synTraceFormat format,
                              void* buffer, size_t* size, size_t* entry_count) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Device> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Device::Find(device, &found));
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(CheckType(type));
  SYNAPSE_DOUBLE_REQUIRE_POINTER(size);
  SYNAPSE_DOUBLE_REQUIRE_POINTER(entry_count);
  if (format != synTraceFormatTEF) {
    return Refuse(Rule::kArguments, synInvalidArgument, Text("no trace format ", static_cast<uint32_t>(format)));
  }
  if (found->trace().is_running()) return Refuse(Rule::kArguments, synFail, "the profiler runs: stop it first");
  const size_t bytes = found->trace().entry_count() * kTraceEntryBytes;
  if (buffer != nullptr) {
    if (*size < bytes) {
      return Refuse(Rule::kArguments, synInvalidArgument, Text("the buffer has ", *size, " of ", bytes, " bytes"));
    }
    for (size_t i = 0; i < bytes; i += sizeof(kPoison)) {
      std::memcpy(static_cast<char*>(buffer) + i, &kPoison, sizeof(kPoison));
    }
  }
  *size = bytes;
  *entry_count = found->trace().entry_count();
  return synSuccess;
}

synStatus synProfilerAddCustomMeasurement(const char* description, uint64_t nanoseconds) {
  SYNAPSE_DOUBLE_CALL();
  return AddEntry(description);
}

#ifndef SYNAPSE_DOUBLE_1_5

synStatus synProfilerQueryRequiredMemory(const synDeviceId device, uint32_t* bytes) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Device> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Device::Find(device, &found));
  SYNAPSE_DOUBLE_REQUIRE_POINTER(bytes);
  *bytes = 0;
  return synSuccess;
}

synStatus synProfilerSetUserBuffer(const synDeviceId device, void* buffer) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Device> found;
  return Device::Find(device, &found);
}

synStatus synProfilerGetCurrentTimeNS(uint64_t* nanoseconds) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(nanoseconds);
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  *nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  return synSuccess;
}

synStatus synProfilerAddCustomEvent(const char* description, uint64_t start, uint64_t end, const char** args,
                                    size_t args_size) {
  SYNAPSE_DOUBLE_CALL();
  if (end < start) return Refuse(Rule::kArguments, synInvalidArgument, "the event ends before it starts");
  return AddEntry(description);
}

#endif

}  // namespace hpu::synapse
