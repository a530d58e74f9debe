// Types, enums and structs of the SynapseAI C API that releases 1.5 and 1.18 share. v1_5.h and v1_18.h hold the rest.
//
// These are the project's own declarations. Types and enumerators have SynapseAI's names, in a namespace. The library
// is bound with dlsym, so no header of the product is needed.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_TYPES_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_TYPES_H_

#include <cstddef>
#include <cstdint>

namespace hpu::synapse {

// Handles.
using synTensor = struct internalTensor*;
using synGraphHandle = struct InternalGraphHandle*;
using synRecipeHandle = struct InternalRecipeHandle*;
using synStreamHandle = struct InternalStreamHandle*;
using synEventHandle = struct EventInterfaceExternal*;
using synSectionHandle = struct SectionHandleExternal*;

using synDeviceId = uint32_t;
using synModuleId = uint32_t;
using synSectionId = uint32_t;
using synNodeId = uint64_t;
using TSize = uint64_t;
using TStride = uint64_t;

inline constexpr uint32_t kInvalidId = 0xFFFFFFFF;          // synDeviceId, synModuleId, synSectionId
inline constexpr uint64_t kInvalidTensorId = ~uint64_t{0};  // synLaunch skips such tensors

// Maximum rank of tensors of most nodes, and of data movement nodes.
inline constexpr uint32_t SYN_MAX_TENSOR_DIM = 5;
inline constexpr uint32_t SYN_GAUDI_MAX_TENSOR_DIM = 8;
inline constexpr size_t ENQUEUE_TENSOR_NAME_MAX_SIZE = 1024;
inline constexpr size_t STATUS_DESCRIPTION_MAX_SIZE = 56;
inline constexpr uint32_t MAX_NUM_OF_DEVICES_PER_HOST = 8;
// Flags of synLaunch and of synEventCreate.
inline constexpr uint32_t SYN_FLAGS_TENSOR_NAME = 1;
inline constexpr uint32_t EVENT_COLLECT_TIME = 1;

// Result of every function. The numbers are release 1.18's. Release 1.5 is not known to have other numbers.
enum synStatus : uint32_t {
  synSuccess = 0,
  synInvalidArgument = 1,
  synCbFull = 2,
  synOutOfHostMemory = 3,
  synOutOfDeviceMemory = 4,
  synObjectAlreadyInitialized = 5,
  synObjectNotInitialized = 6,
  synCommandSubmissionFailure = 7,
  synNoDeviceFound = 8,
  synDeviceTypeMismatch = 9,
  synFailedToInitializeCb = 10,
  synFailedToFreeCb = 11,
  synFailedToMapCb = 12,
  synFailedToUnmapCb = 13,
  synFailedToAllocateDeviceMemory = 14,
  synFailedToFreeDeviceMemory = 15,
  synFailedNotEnoughDevicesFound = 16,
  synDeviceReset = 17,
  synUnsupported = 18,
  synWrongParamsFile = 19,
  synDeviceAlreadyAcquired = 20,
  synNameIsAlreadyUsed = 21,
  synBusy = 22,
  synAllResourcesTaken = 23,
  synUnavailable = 24,
  synInvalidTensorDimensions = 25,
  synFail = 26,
  synOutOfResources = 27,
  synUninitialized = 28,
  synAlreadyInitialized = 29,
  synFailedSectionValidation = 30,
  synSynapseTerminated = 31,
  synAssertAsync = 32,
  synInvalidEventHandle = 33,
  synMappingNotFound = 34,
  synFailedDynamicPatching = 35,
  synFailedStaticPatching = 36,
  synFailedToSubmitWorkload = 37,
  synInvalidSectionsDefinition = 38,
  synInvalidTensorProperties = 39,
  synFailHccl = 40,
  synFailedToCollectTime = 41,
  synTimeout = 42,
  synResourceBadUsage = 43,
};

// Element types, as bits. There is neither bool nor float64.
enum synDataType : uint32_t {
  syn_type_na = 0,
  syn_type_int8 = 1 << 0,
  syn_type_fixed = syn_type_int8,
  syn_type_bf16 = 1 << 1,
  syn_type_float = 1 << 2,
  syn_type_single = syn_type_float,
  syn_type_int16 = 1 << 3,
  syn_type_int32 = 1 << 4,
  syn_type_uint8 = 1 << 5,
  syn_type_int4 = 1 << 6,
  syn_type_uint4 = 1 << 7,
  syn_type_fp16 = 1 << 8,
  syn_type_uint16 = 1 << 9,
  syn_type_uint32 = 1 << 10,
  syn_type_tf32 = 1 << 11,
  syn_type_hb_float = 1 << 12,
  syn_type_fp8_143 = 1 << 13,
  syn_type_fp8_152 = 1 << 14,
  syn_type_int64 = 1 << 15,
  syn_type_uint64 = 1 << 16,
  syn_type_ufp16 = 1 << 17,
};

enum synTensorType : uint32_t {
  DATA_TENSOR = 0,
  OUTPUT_DESCRIBING_SHAPE_TENSOR = 1,
  SHAPE_TENSOR = OUTPUT_DESCRIBING_SHAPE_TENSOR,
  INPUT_DESCRIBING_SHAPE_TENSOR = 2,
  DATA_TENSOR_DYNAMIC = 3,
  DEVICE_SHAPE_TENSOR = 4,
  HOST_SHAPE_TENSOR = 5,
  HOST_TO_DEVICE_TENSOR = 6,
  TENSOR_TYPE_INVALID = 7,
};

enum synDmaDir : uint32_t { HOST_TO_DRAM = 0, DRAM_TO_HOST = 1, DRAM_TO_DRAM = 2 };

enum synGeometryType : uint32_t {
  synGeometryMinSizes = 0,
  synGeometryMaxSizes = 1,
  synGeometrySizes = synGeometryMaxSizes,
  synGeometryDims = 2,
};

enum synGraphAttribute : uint32_t {
  GRAPH_ATTRIBUTE_INFERENCE = 0,
  GRAPH_ATTRIBUTE_QUANTIZATION = 1,
  GRAPH_ATTRIBUTE_BACKOFF_FACTOR = 2,
};

union synGraphAttributeVal {
  uint64_t iAttrVal;
  double dAttrVal;
};

enum synRoundingMode : uint32_t {
  synRoundToNearest = 0,
  synRoundToZero = 1,
  synRoundUp = 2,
  synRoundDown = 3,
  synStochasticRounding = 4,
  synRoundAwayFromZero = 5,
  synStochasticRoundingAndNearest = 6,
};

enum synTraceType : uint32_t { synTraceAll = 1, synTraceHost = 2, synTraceDevice = 3 };
enum synTraceFormat : uint32_t { synTraceFormatTEF = 1 };

// The reference lists no values.
enum synQuantizationProperty : uint32_t {};

// Values for synTransposeParams::permutation.
enum TransposePermutationDim : uint32_t {
  TPD_Channel = 0,
  TPD_Width = 1,
  TPD_Height = 2,
  TPD_Depth = 3,
  TPD_4Dim_Batch = 3,
  TPD_Batch = 4,
  TPD_Weights_K = 0,
  TPD_Weights_C = 1,
  TPD_Weights_S = 2,
  TPD_Weights_R = 3,
  TPD_Weights_Q = 4,
};

// Release 1.18's layout. 1.5's layout is not known to differ, except for the numbers of `deviceType`.
struct synDeviceInfo {
  uint64_t sramBaseAddress;
  uint64_t dramBaseAddress;
  uint32_t sramSize;
  uint64_t dramSize;
  uint64_t tpcEnabledMask;
  uint8_t dramEnabled;
  uint32_t deviceId;
  uint32_t fd;
  uint32_t deviceType;  // synDeviceType of the profile
};
static_assert(offsetof(synDeviceInfo, dramSize) == 24, "layout of SynapseAI 1.18");
static_assert(offsetof(synDeviceInfo, deviceType) == 52, "layout of SynapseAI 1.18");
static_assert(sizeof(synDeviceInfo) == 56, "layout of SynapseAI 1.18");

struct synTensorHandleMap {
  synTensor origHandle;
  synTensor newHandle;
};
static_assert(sizeof(synTensorHandleMap) == 16, "two handles");

struct synNodeHandleMap {
  synNodeId origHandle;
  synNodeId newHandle;
};
static_assert(sizeof(synNodeHandleMap) == 16, "two ids");

struct synQuantDynamicRange {
  double min;
  double max;
};

struct synQuantZPScale {
  double zp;
  double scale;
};

struct synQuantMetadata {
  synDataType dataType;
  synQuantZPScale* zpScales;
  unsigned numZPScales;
};
static_assert(sizeof(synQuantMetadata) == 24, "enum, pointer and count");

static_assert(sizeof(synStatus) == 4 && sizeof(synDataType) == 4 && sizeof(bool) == 1, "enums and bool of the C API");

}  // namespace hpu::synapse

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_TYPES_H_
