// A fake libSynapse for tests of the loader: records arguments and computes nothing.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "plugin/backends/gaudi/synapse/functions.h"
#include "plugin/testing/synapse_fake/recorded_calls.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace hpu::synapse {
namespace {

RecordedCalls calls;

const char* Setting(const char* name, const char* fallback) {
  const char* value = std::getenv(name);
  return value == nullptr ? fallback : value;
}

}  // namespace

EXPORTED RecordedCalls* fake_recorded_calls() { return &calls; }

EXPORTED synStatus synDriverGetVersion(char* version, const int length) {
  std::strncpy(version, Setting(kFakeVersion, ""), length);
  return synSuccess;
}

EXPORTED synStatus synDeviceMalloc(const synDeviceId, const uint64_t, uint64_t, const uint32_t, uint64_t* buffer) {
  *buffer = 4096;
  return static_cast<synStatus>(std::atoi(Setting(kFakeMallocStatus, "0")));
}

EXPORTED synStatus synStreamDestroy(const synStreamHandle) {
  ++calls.destroyed_streams;
  return synSuccess;
}

// Numbers the names; the id of the name "unknown" stays as it is.
EXPORTED synStatus synTensorRetrieveIds(const synRecipeHandle, const char** names, uint64_t* ids,
                                        const uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (std::strcmp(names[i], "unknown") != 0) ids[i] = 100 + i;
  }
  return synSuccess;
}

#ifdef FAKE_SYNAPSE_1_5
using namespace v1_5;  // NOLINT: types of the profile

EXPORTED synStatus synStreamCreate(synStreamHandle* stream, const synDeviceId, const uint32_t type, const uint32_t) {
  *stream = reinterpret_cast<synStreamHandle>(&calls);
  calls.stream_type = type;
  return synSuccess;
}

#else
using namespace v1_18;  // NOLINT: types of the profile

EXPORTED synStatus synStreamCreateGeneric(synStreamHandle* stream, const synDeviceId, const uint32_t) {
  *stream = reinterpret_cast<synStreamHandle>(&calls);
  return synSuccess;
}

EXPORTED synStatus synTensorSetDeviceDataType(synTensor, synDataType type) {
  calls.element_type = type;
  return synSuccess;
}

#endif

EXPORTED synStatus synDeviceGetInfo(const synDeviceId, synDeviceInfo* info) {
  info->sramSize = 48;
  info->dramBaseAddress = 0x1000;
  info->dramSize = 96;
  info->tpcEnabledMask = 0xFF;
  info->dramEnabled = 1;
  info->deviceType = synDeviceGaudi2;
  return synSuccess;
}

EXPORTED synStatus synDeviceGetAttribute(uint64_t* values, const synDeviceAttribute* attributes, const unsigned,
                                         const synDeviceId) {
  calls.attribute = attributes[0];
  values[0] = 7;
  return synSuccess;
}

EXPORTED synStatus synGraphCreate(synGraphHandle* graph, const synDeviceType type) {
  *graph = reinterpret_cast<synGraphHandle>(&calls);
  calls.device_type = type;
  return synSuccess;
}

EXPORTED synStatus synTensorSetGeometry(synTensor, const synTensorGeometry* geometry, synGeometryType) {
  std::memcpy(calls.geometry, geometry, sizeof(*geometry));
  return synSuccess;
}

EXPORTED synStatus synTensorSetDeviceFullLayout(synTensor, const synTensorDeviceFullLayout* layout) {
  std::memcpy(calls.layout, layout, sizeof(*layout));
  return synSuccess;
}

EXPORTED synStatus synLaunch(const synStreamHandle, const synLaunchTensorInfo* tensors, const uint32_t count,
                             uint64_t workspace, const synRecipeHandle, uint32_t) {
  std::memcpy(calls.launch_tensors, tensors, std::min(sizeof(calls.launch_tensors), count * sizeof(*tensors)));
  calls.launch_count = count;
  calls.workspace = workspace;
  return synSuccess;
}

}  // namespace hpu::synapse
