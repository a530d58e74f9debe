// SynapseAI C API, ABI profile 1.5: enums and structs that differ from other releases. Tensors have up to 5 dimensions
// of 32 bits, and launches find them by name.
//
// The reference states this release's dimensions, its launch struct, and the first numbers of its enums. A struct's
// layout is derived from these and from 1.18's where a comment says "derived".
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_V1_5_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_V1_5_H_

#include <cstddef>
#include <cstdint>

#include "plugin/backends/gaudi/synapse/types.h"

namespace hpu::synapse::v1_5 {

inline constexpr size_t HABANA_DIM_MAX = 5;

// Later numbers are unknown.
enum synDeviceType : uint32_t { synDeviceGaudi = 0, synDeviceGaudi2 = 1 };

// Later numbers are unknown. synWorkspaceGetSize returns the workspace's size in every release.
enum synRecipeAttribute : uint32_t { RECIPE_ATTRIBUTE_BATCH_SIZE = 0, RECIPE_ATTRIBUTE_WORKSPACE_SIZE = 1 };

// Derived: 0 to 10 are 1.18's numbers, because 1.18 inserted ADDRESS_ALIGNMENT_SIZE as 11.
enum synDeviceAttribute : uint32_t {
  DEVICE_ATTRIBUTE_SRAM_BASE_ADDRESS = 0,
  DEVICE_ATTRIBUTE_DRAM_BASE_ADDRESS = 1,
  DEVICE_ATTRIBUTE_SRAM_SIZE = 2,
  DEVICE_ATTRIBUTE_DRAM_SIZE = 3,
  DEVICE_ATTRIBUTE_DRAM_FREE_SIZE = 4,
  DEVICE_ATTRIBUTE_TPC_ENABLED_MASK = 5,
  DEVICE_ATTRIBUTE_DRAM_ENABLED = 6,
  DEVICE_ATTRIBUTE_DEVICE_TYPE = 7,
  DEVICE_ATTRIBUTE_CLK_RATE = 8,
  DEVICE_ATTRIBUTE_MAX_RMW_SIZE = 9,
  DEVICE_ATTRIBUTE_STREAMS_TOTAL_MEM_SIZE = 10,
  DEVICE_ATTRIBUTE_MAX_DIMS = 11,
};

// A stream takes work of one type.
enum synStreamType : uint32_t {
  STREAM_TYPE_COPY_DEVICE_TO_HOST = 0,
  STREAM_TYPE_COPY_HOST_TO_DEVICE = 1,
  STREAM_TYPE_COPY_DEVICE_TO_DEVICE = 2,
  STREAM_TYPE_COMPUTE = 3,
  STREAM_TYPE_NETWORK_COLLECTIVE = 4,
};

struct synLaunchTensorInfo {
  const char* tensorName;
  uint64_t pTensorAddress;
  synTensorType tensorType;
  uint32_t tensorSize[HABANA_DIM_MAX];
};
static_assert(offsetof(synLaunchTensorInfo, tensorName) == 0, "layout of SynapseAI 1.5");
static_assert(offsetof(synLaunchTensorInfo, pTensorAddress) == 8, "layout of SynapseAI 1.5");
static_assert(offsetof(synLaunchTensorInfo, tensorType) == 16, "layout of SynapseAI 1.5");
static_assert(offsetof(synLaunchTensorInfo, tensorSize) == 20, "layout of SynapseAI 1.5");
static_assert(sizeof(synLaunchTensorInfo) == 40, "layout of SynapseAI 1.5");

// Derived.
struct synTensorGeometry {
  uint32_t sizes[HABANA_DIM_MAX];
  uint32_t dims;
};
static_assert(sizeof(synTensorGeometry) == 24, "derived from SynapseAI 1.18");

// Derived.
struct synTensorPermutation {
  uint8_t permutation[HABANA_DIM_MAX];
  uint8_t dims;
};
static_assert(sizeof(synTensorPermutation) == 6, "derived from SynapseAI 1.18");

// Derived. The only way to set a tensor's element type: synTensorSetDeviceDataType came later.
struct synTensorDeviceFullLayout {
  uint32_t strides[HABANA_DIM_MAX];
  synDataType deviceDataType;
};
static_assert(sizeof(synTensorDeviceFullLayout) == 24, "derived from SynapseAI 1.18");

// Argument of the legacy synTensorCreate, which also sets section and offset. Its layout is unknown, so the backend
// creates tensors with synTensorHandleCreate.
struct synTensorDescriptor;

}  // namespace hpu::synapse::v1_5

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_V1_5_H_
