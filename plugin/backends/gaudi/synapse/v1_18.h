// SynapseAI C API, ABI profile 1.18: enums and structs that differ from other releases. Structs have room for 25
// dimensions of 64 bits.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_V1_18_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_V1_18_H_

#include <cstddef>
#include <cstdint>

#include "plugin/backends/gaudi/synapse/types.h"

namespace hpu::synapse::v1_18 {

inline constexpr size_t HABANA_DIM_MAX = 25;

enum synDeviceType : uint32_t {
  synDeviceGreco = 1,
  synDeviceGaudi = 2,
  synDeviceGaudi2 = 4,
  synDeviceGaudi3 = 5,
  synDeviceEmulator = 6,
  synDeviceTypeInvalid = 7,
  synDeviceTypeSize = 8,
};

enum synRecipeAttribute : uint32_t {
  RECIPE_ATTRIBUTE_WORKSPACE_SIZE = 0,
  RECIPE_ATTRIBUTE_NUM_PERSISTENT_TENSORS = 1,
  RECIPE_ATTRIBUTE_HOST_MEM_SIZE = 2,
  RECIPE_ATTRIBUTE_NUM_EXTERNAL_TENSORS = 3,
  RECIPE_ATTRIBUTE_PERSISTENT_TENSORS_SIZE = 4,
  RECIPE_ATTRIBUTE_CONST_SECTIONS_SIZE = 5,
  RECIPE_ATTRIBUTE_DEVICE_MEMORY_SIZE = 6,
};

// The reference lists these in this order, without numbers.
enum synSectionProp : uint32_t { SECTION_SIZE = 0, SECTION_DATA = 1, IS_CONST = 2 };

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
  DEVICE_ATTRIBUTE_ADDRESS_ALIGNMENT_SIZE = 11,
  DEVICE_ATTRIBUTE_MAX_DIMS = 12,
};

struct synLaunchTensorInfo {
  const char* tensorName;
  uint64_t pTensorAddress;
  synTensorType tensorType;
  TSize tensorSize[HABANA_DIM_MAX];
  uint64_t tensorId;
};
static_assert(offsetof(synLaunchTensorInfo, tensorName) == 0, "layout of SynapseAI 1.18");
static_assert(offsetof(synLaunchTensorInfo, pTensorAddress) == 8, "layout of SynapseAI 1.18");
static_assert(offsetof(synLaunchTensorInfo, tensorType) == 16, "layout of SynapseAI 1.18");
static_assert(offsetof(synLaunchTensorInfo, tensorSize) == 24, "layout of SynapseAI 1.18");
static_assert(offsetof(synLaunchTensorInfo, tensorId) == 224, "layout of SynapseAI 1.18");
static_assert(sizeof(synLaunchTensorInfo) == 232, "layout of SynapseAI 1.18");

struct synTensorGeometry {
  TSize sizes[HABANA_DIM_MAX];
  uint32_t dims;
};
static_assert(sizeof(synTensorGeometry) == 208, "layout of SynapseAI 1.18");

struct synTensorPermutation {
  uint8_t permutation[HABANA_DIM_MAX];
  uint8_t dims;
};
static_assert(sizeof(synTensorPermutation) == 26, "layout of SynapseAI 1.18");

struct synTensorDeviceFullLayout {
  uint32_t strides[HABANA_DIM_MAX];
  synDataType deviceDataType;
};
static_assert(sizeof(synTensorDeviceFullLayout) == 104, "layout of SynapseAI 1.18");

// In and out of synTensorRetrieveLaunchInfoById: the caller sets `tensorId`.
struct synRetrievedLaunchTensorInfo {
  char tensorName[ENQUEUE_TENSOR_NAME_MAX_SIZE];
  uint64_t tensorId;
  synTensorType tensorType;
  synDataType tensorDataType;
  uint32_t tensorDims;
  TSize tensorMaxSize[HABANA_DIM_MAX];
  TSize tensorMinSize[HABANA_DIM_MAX];
  uint8_t tensorPermutation[HABANA_DIM_MAX];
  synSectionId tensorSectionId;
  uint64_t tensorOffsetInSection;
  uint8_t isInput;
  uint32_t reserved[10];
};
static_assert(sizeof(synRetrievedLaunchTensorInfo) == 1536, "layout of SynapseAI 1.18");

struct synDeviceInfoV2 {
  uint64_t sramBaseAddress;
  uint64_t dramBaseAddress;
  uint32_t sramSize;
  uint64_t dramSize;
  uint64_t tpcEnabledMask;
  uint8_t dramEnabled;
  uint32_t deviceId;
  uint32_t fd;
  synDeviceType deviceType;
  uint8_t deviceIndex;
  uint64_t reserved;
};
static_assert(offsetof(synDeviceInfoV2, deviceIndex) == sizeof(synDeviceInfo), "layout of SynapseAI 1.18");
static_assert(sizeof(synDeviceInfoV2) == 72, "layout of SynapseAI 1.18");

}  // namespace hpu::synapse::v1_18

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_V1_18_H_
