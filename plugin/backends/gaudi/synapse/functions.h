// Function tables of the SynapseAI C API: the required and the optional functions of each ABI profile.
//
// Each list is a macro that applies FUNCTION(name, (parameter types)) to its functions; every function returns
// synStatus. The backend cannot run without the required functions. Optional functions may be null.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_FUNCTIONS_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_FUNCTIONS_H_

#include <cstddef>
#include <cstdint>

#include "plugin/backends/gaudi/synapse/types.h"
#include "plugin/backends/gaudi/synapse/v1_18.h"
#include "plugin/backends/gaudi/synapse/v1_5.h"

// clang-format off

// Functions with the same parameters in all profiles.
#define HPU_SYNAPSE_REQUIRED(FUNCTION)                                                                                 \
  FUNCTION(synInitialize, ())                                                                                          \
  FUNCTION(synDestroy, ())                                                                                             \
  FUNCTION(synDriverGetVersion, (char* version, const int length))                                                     \
  FUNCTION(synDeviceGetCount, (uint32_t* count))                                                                       \
  FUNCTION(synDeviceAcquire, (synDeviceId* device, const char* pci_bus))                                               \
  FUNCTION(synDeviceRelease, (const synDeviceId device))                                                               \
  FUNCTION(synDeviceSynchronize, (const synDeviceId device))                                                           \
  FUNCTION(synDeviceGetMemoryInfo, (const synDeviceId device, uint64_t* free, uint64_t* total))                        \
  FUNCTION(synDeviceGetInfo, (const synDeviceId device, synDeviceInfo* info))                                          \
  FUNCTION(synDeviceMalloc, (const synDeviceId device, const uint64_t size, uint64_t requested_address,                \
                             const uint32_t flags, uint64_t* buffer))                                                  \
  FUNCTION(synDeviceFree, (const synDeviceId device, const uint64_t buffer, const uint32_t flags))                     \
  FUNCTION(synHostMalloc, (const synDeviceId device, const uint64_t size, const uint32_t flags, void** buffer))        \
  FUNCTION(synHostFree, (const synDeviceId device, const void* buffer, const uint32_t flags))                          \
  FUNCTION(synHostMap, (const synDeviceId device, const uint64_t size, const void* buffer))                            \
  FUNCTION(synHostUnmap, (const synDeviceId device, const void* buffer))                                               \
  FUNCTION(synMemCopyAsync, (const synStreamHandle stream, const uint64_t source, const uint64_t size,                 \
                             const uint64_t destination, const synDmaDir direction))                                   \
  FUNCTION(synMemsetD8Async, (uint64_t address, const unsigned char value, const size_t count,                         \
                              const synStreamHandle stream))                                                           \
  FUNCTION(synStreamDestroy, (const synStreamHandle stream))                                                           \
  FUNCTION(synStreamSynchronize, (const synStreamHandle stream))                                                       \
  FUNCTION(synStreamQuery, (const synStreamHandle stream))                                                             \
  FUNCTION(synStreamWaitEvent, (const synStreamHandle stream, synEventHandle event, const uint32_t flags))             \
  FUNCTION(synEventCreate, (synEventHandle* event, const synDeviceId device, const uint32_t flags))                    \
  FUNCTION(synEventDestroy, (synEventHandle event))                                                                    \
  FUNCTION(synEventRecord, (synEventHandle event, const synStreamHandle stream))                                       \
  FUNCTION(synEventQuery, (const synEventHandle event))                                                                \
  FUNCTION(synEventSynchronize, (const synEventHandle event))                                                          \
  FUNCTION(synGraphDestroy, (const synGraphHandle graph))                                                              \
  FUNCTION(synGraphCompile, (synRecipeHandle* recipe, const synGraphHandle graph, const char* name,                    \
                             const char* build_log))                                                                   \
  FUNCTION(synTensorHandleCreate, (synTensor* tensor, synGraphHandle graph, synTensorType type, const char* name))     \
  FUNCTION(synTensorAssignToSection, (synTensor tensor, synSectionHandle section, uint64_t offset))                    \
  FUNCTION(synTensorSetHostPtr, (synTensor tensor, void* data, uint64_t size, synDataType type, bool copy))            \
  FUNCTION(synSectionCreate, (synSectionHandle* section, uint64_t descriptor, const synGraphHandle graph))             \
  FUNCTION(synSectionSetPersistent, (synSectionHandle section, bool persistent))                                       \
  FUNCTION(synNodeCreateWithId, (const synGraphHandle graph, const synTensor* inputs, const synTensor* outputs,        \
                                 const uint32_t input_count, const uint32_t output_count, const void* params,          \
                                 const unsigned params_size, const char* guid, const char* name, synNodeId* node,      \
                                 const char** input_layouts, const char** output_layouts))                             \
  FUNCTION(synNodeDependencySet, (const synGraphHandle graph, const synNodeId* blocking, const synNodeId* blocked,     \
                                  const uint32_t blocking_count, const uint32_t blocked_count))                        \
  FUNCTION(synRecipeSerialize, (const synRecipeHandle recipe, const char* path))                                       \
  FUNCTION(synRecipeDeSerialize, (synRecipeHandle* recipe, const char* path))                                          \
  FUNCTION(synRecipeDestroy, (synRecipeHandle recipe))                                                                 \
  FUNCTION(synWorkspaceGetSize, (uint64_t* size, const synRecipeHandle recipe))                                        \
  FUNCTION(synTensorRetrieveIds, (const synRecipeHandle recipe, const char** names, uint64_t* ids,                     \
                                  const uint32_t count))

#define HPU_SYNAPSE_OPTIONAL(FUNCTION)                                                                                 \
  FUNCTION(synDeviceAcquireByModuleId, (synDeviceId* device, const synModuleId module))                                \
  FUNCTION(synDeviceGetName, (char* name, const int length, const synDeviceId device))                                 \
  FUNCTION(synConfigurationSet, (const char* name, const char* value))                                                 \
  FUNCTION(synConfigurationGet, (const char* name, char* value, uint64_t size))                                        \
  FUNCTION(synMemCopyAsyncMultiple, (const synStreamHandle stream, const uint64_t* sources, const uint64_t* sizes,     \
                                     const uint64_t* destinations, const synDmaDir direction, const uint64_t count))   \
  FUNCTION(synMemsetD16Async, (uint64_t address, const uint16_t value, const size_t count,                             \
                               const synStreamHandle stream))                                                          \
  FUNCTION(synMemsetD32Async, (uint64_t address, const uint32_t value, const size_t count,                             \
                               const synStreamHandle stream))                                                          \
  FUNCTION(synEventElapsedTime, (uint64_t* nanoseconds, const synEventHandle start, const synEventHandle end))         \
  FUNCTION(synGraphSetAttributes, (synGraphHandle graph, const synGraphAttribute* attributes,                          \
                                   const synGraphAttributeVal* values, const uint32_t count))                          \
  FUNCTION(synGraphDuplicate, (synGraphHandle graph, synGraphHandle* copy, synTensorHandleMap* tensors,                \
                               uint32_t* tensor_count, synNodeHandleMap* nodes, uint32_t* node_count))                 \
  FUNCTION(synGraphInferShapes, (synGraphHandle graph))                                                                \
  FUNCTION(synTensorDestroy, (const synTensor tensor))                                                                 \
  FUNCTION(synTensorSetExternal, (synTensor tensor, bool external))                                                    \
  FUNCTION(synTensorSetAllowPermutation, (synTensor tensor, int8_t allow))                                             \
  FUNCTION(synTensorSetQuantizationData, (synTensor tensor, synQuantizationProperty property, void* value,             \
                                          uint64_t size))                                                              \
  FUNCTION(synTensorExtExtractExecutionOrder, (const synRecipeHandle recipe, uint32_t count, uint64_t* ids))           \
  FUNCTION(synSectionDestroy, (synSectionHandle section))                                                              \
  FUNCTION(synSectionSetGroup, (synSectionHandle section, uint64_t group))                                             \
  FUNCTION(synSectionSetRMW, (synSectionHandle section, bool read_modify_write))                                       \
  FUNCTION(synNodeCreate, (const synGraphHandle graph, const synTensor* inputs, const synTensor* outputs,              \
                           const uint32_t input_count, const uint32_t output_count, const void* params,                \
                           const unsigned params_size, const char* guid, const char* name,                             \
                           const char** input_layouts, const char** output_layouts))                                   \
  FUNCTION(synNodeTypeSetPrecision, (const synGraphHandle graph, const char* guid, synDataType precision))             \
  FUNCTION(synTensorRetrievePersistentAmount, (const synRecipeHandle recipe, uint32_t* count))                         \
  FUNCTION(synTensorRetrieveNames, (const synRecipeHandle recipe, char names[][ENQUEUE_TENSOR_NAME_MAX_SIZE],          \
                                    const uint32_t count))                                                             \
  FUNCTION(synProfilerStart, (const synTraceType type, const synDeviceId device))                                      \
  FUNCTION(synProfilerStop, (const synTraceType type, const synDeviceId device))                                       \
  FUNCTION(synProfilerGetTrace, (const synTraceType type, const synDeviceId device, const synTraceFormat format,       \
                                 void* buffer, size_t* size, size_t* entry_count))                                     \
  FUNCTION(synProfilerAddCustomMeasurement, (const char* description, uint64_t nanoseconds))

// Functions of all profiles whose parameters are structs or enums of the profile.
#define HPU_SYNAPSE_PROFILE_REQUIRED(FUNCTION)                                                                         \
  FUNCTION(synDeviceGetAttribute, (uint64_t* values, const synDeviceAttribute* attributes, const unsigned count,       \
                                   const synDeviceId device))                                                          \
  FUNCTION(synGraphCreate, (synGraphHandle* graph, const synDeviceType type))                                          \
  FUNCTION(synTensorSetGeometry, (synTensor tensor, const synTensorGeometry* geometry, synGeometryType type))          \
  FUNCTION(synLaunch, (const synStreamHandle stream, const synLaunchTensorInfo* tensors, const uint32_t count,         \
                       uint64_t workspace, const synRecipeHandle recipe, uint32_t flags))

#define HPU_SYNAPSE_PROFILE_OPTIONAL(FUNCTION)                                                                         \
  FUNCTION(synDeviceGetCountByDeviceType, (uint32_t* count, const synDeviceType type))                                 \
  FUNCTION(synDeviceAcquireByDeviceType, (synDeviceId* device, const synDeviceType type))                              \
  FUNCTION(synDeviceTypeGetAttribute, (uint64_t* values, const synDeviceAttribute* attributes, const unsigned count,   \
                                       const synDeviceType type))                                                      \
  FUNCTION(synGraphGetDeviceType, (const synGraphHandle graph, synDeviceType* type))                                   \
  FUNCTION(synTensorSetPermutation, (synTensor tensor, const synTensorPermutation* permutation))                       \
  FUNCTION(synRecipeGetAttribute, (uint64_t* values, const synRecipeAttribute* attributes, const unsigned count,       \
                                   const synRecipeHandle recipe))

// Functions of profile 1.18 only.
#define HPU_SYNAPSE_1_18_REQUIRED(FUNCTION)                                                                            \
  FUNCTION(synStreamCreateGeneric, (synStreamHandle* stream, const synDeviceId device, const uint32_t flags))          \
  FUNCTION(synTensorSetDeviceDataType, (synTensor tensor, synDataType type))                                           \
  FUNCTION(synSectionSetConst, (synSectionHandle section, bool constant))

#define HPU_SYNAPSE_1_18_OPTIONAL(FUNCTION)                                                                            \
  FUNCTION(synDeviceCount, (uint32_t counts[synDeviceTypeSize]))                                                       \
  FUNCTION(synDeviceGetModuleIDs, (uint32_t* modules, uint32_t* count))                                                \
  FUNCTION(synDeviceGetPCIBusId, (char* bus, const int length, const synDeviceId device))                              \
  FUNCTION(synDeviceGetInfoV2, (const synDeviceId device, synDeviceInfoV2* info))                                      \
  FUNCTION(synDeviceGetAttributeByModuleId, (uint64_t* values, const synDeviceAttribute* attributes,                   \
                                             const unsigned count, const synModuleId module))                          \
  FUNCTION(synStatusGetBriefDescription, (synStatus status, char* description, size_t length))                         \
  FUNCTION(synTPCLibraryGetVersionSize, (uint32_t* count))                                                             \
  FUNCTION(synTPCLibraryGetVersions, (const char** libraries, uint32_t* versions))                                     \
  FUNCTION(synStreamSetAffinity, (const synDeviceId device, const synStreamHandle stream, uint64_t mask))              \
  FUNCTION(synDeviceGetAffinityMaskRange, (const synDeviceId device, uint64_t* mask))                                  \
  FUNCTION(synDeviceGetNextStreamAffinity, (const synDeviceId device, uint64_t* mask))                                 \
  FUNCTION(synEventMapTensor, (synEventHandle* events, size_t count, const synLaunchTensorInfo* tensors,               \
                               const synRecipeHandle recipe))                                                          \
  FUNCTION(synGraphCreateEager, (synGraphHandle* graph, const synDeviceType type))                                     \
  FUNCTION(synTensorSetDeviceFullLayout, (synTensor tensor, const synTensorDeviceFullLayout* layout))                  \
  FUNCTION(synNodeSetDeterministic, (const synGraphHandle graph, const synNodeId node, const bool deterministic))      \
  FUNCTION(synNodeSetRoundingMode, (const synGraphHandle graph, const synNodeId node, const synRoundingMode mode))     \
  FUNCTION(synNodeSetUserParams, (const synGraphHandle graph, const synNodeId node, const void* params,                \
                                  const unsigned params_size))                                                         \
  FUNCTION(synRecipeSectionGetProp, (const synRecipeHandle recipe, const synSectionId section,                         \
                                     const synSectionProp property, uint64_t* value))                                  \
  FUNCTION(synRecipeSectionHostBuffersClear, (synRecipeHandle recipe, const synSectionId* sections, size_t count))     \
  FUNCTION(synTensorRetrieveLaunchAmount, (const synRecipeHandle recipe, uint32_t* count))                             \
  FUNCTION(synTensorRetrieveLaunchIds, (const synRecipeHandle recipe, uint64_t* ids, const uint32_t count))            \
  FUNCTION(synTensorRetrieveLaunchInfoById, (const synRecipeHandle recipe, const uint32_t count,                       \
                                             synRetrievedLaunchTensorInfo* tensors))                                   \
  FUNCTION(synLaunchWithExternalEvents, (const synStreamHandle stream, const synLaunchTensorInfo* tensors,             \
                                         const uint32_t count, uint64_t workspace, const synRecipeHandle recipe,       \
                                         synEventHandle* events, const uint32_t event_count, uint32_t flags))          \
  FUNCTION(synProfilerQueryRequiredMemory, (const synDeviceId device, uint32_t* bytes))                                \
  FUNCTION(synProfilerSetUserBuffer, (const synDeviceId device, void* buffer))                                         \
  FUNCTION(synProfilerGetCurrentTimeNS, (uint64_t* nanoseconds))                                                       \
  FUNCTION(synProfilerAddCustomEvent, (const char* description, uint64_t start, uint64_t end, const char** args,       \
                                       size_t args_size))

// Functions of profile 1.5 only. 1.18 sets element types with synTensorSetDeviceDataType.
#define HPU_SYNAPSE_1_5_REQUIRED(FUNCTION)                                                                             \
  FUNCTION(synStreamCreate, (synStreamHandle* stream, const synDeviceId device, const uint32_t type,                   \
                             const uint32_t flags))                                                                    \
  FUNCTION(synTensorSetDeviceFullLayout, (synTensor tensor, const synTensorDeviceFullLayout* layout))

// clang-format on

namespace hpu::synapse {

#define HPU_SYNAPSE_POINTER(name, parameters) synStatus(*name) parameters = nullptr;

// Functions that all profiles share.
struct Functions {
  HPU_SYNAPSE_REQUIRED(HPU_SYNAPSE_POINTER)
  HPU_SYNAPSE_OPTIONAL(HPU_SYNAPSE_POINTER)
};

namespace v1_18 {

struct Functions {
  HPU_SYNAPSE_PROFILE_REQUIRED(HPU_SYNAPSE_POINTER)
  HPU_SYNAPSE_PROFILE_OPTIONAL(HPU_SYNAPSE_POINTER)
  HPU_SYNAPSE_1_18_REQUIRED(HPU_SYNAPSE_POINTER)
  HPU_SYNAPSE_1_18_OPTIONAL(HPU_SYNAPSE_POINTER)
};

}  // namespace v1_18

namespace v1_5 {

struct Functions {
  HPU_SYNAPSE_PROFILE_REQUIRED(HPU_SYNAPSE_POINTER)
  HPU_SYNAPSE_PROFILE_OPTIONAL(HPU_SYNAPSE_POINTER)
  HPU_SYNAPSE_1_5_REQUIRED(HPU_SYNAPSE_POINTER)
};

}  // namespace v1_5

#undef HPU_SYNAPSE_POINTER

}  // namespace hpu::synapse

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_FUNCTIONS_H_
