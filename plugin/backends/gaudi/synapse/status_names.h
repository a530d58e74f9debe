// Names of SynapseAI's statuses, and which of them lose the device. Does not use Abseil, because the test double of
// libSynapse also includes this header.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_STATUS_NAMES_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_STATUS_NAMES_H_

#include <string_view>

#include "plugin/backends/gaudi/synapse/types.h"

namespace hpu::synapse {

// The enumerator's name, such as "synOutOfDeviceMemory"; "unknown status" for other numbers.
inline std::string_view StatusName(synStatus status) {
#define HPU_SYNAPSE_NAME(name) \
  case name:                   \
    return #name;
  switch (status) {
    HPU_SYNAPSE_NAME(synSuccess)
    HPU_SYNAPSE_NAME(synInvalidArgument)
    HPU_SYNAPSE_NAME(synCbFull)
    HPU_SYNAPSE_NAME(synOutOfHostMemory)
    HPU_SYNAPSE_NAME(synOutOfDeviceMemory)
    HPU_SYNAPSE_NAME(synObjectAlreadyInitialized)
    HPU_SYNAPSE_NAME(synObjectNotInitialized)
    HPU_SYNAPSE_NAME(synCommandSubmissionFailure)
    HPU_SYNAPSE_NAME(synNoDeviceFound)
    HPU_SYNAPSE_NAME(synDeviceTypeMismatch)
    HPU_SYNAPSE_NAME(synFailedToInitializeCb)
    HPU_SYNAPSE_NAME(synFailedToFreeCb)
    HPU_SYNAPSE_NAME(synFailedToMapCb)
    HPU_SYNAPSE_NAME(synFailedToUnmapCb)
    HPU_SYNAPSE_NAME(synFailedToAllocateDeviceMemory)
    HPU_SYNAPSE_NAME(synFailedToFreeDeviceMemory)
    HPU_SYNAPSE_NAME(synFailedNotEnoughDevicesFound)
    HPU_SYNAPSE_NAME(synDeviceReset)
    HPU_SYNAPSE_NAME(synUnsupported)
    HPU_SYNAPSE_NAME(synWrongParamsFile)
    HPU_SYNAPSE_NAME(synDeviceAlreadyAcquired)
    HPU_SYNAPSE_NAME(synNameIsAlreadyUsed)
    HPU_SYNAPSE_NAME(synBusy)
    HPU_SYNAPSE_NAME(synAllResourcesTaken)
    HPU_SYNAPSE_NAME(synUnavailable)
    HPU_SYNAPSE_NAME(synInvalidTensorDimensions)
    HPU_SYNAPSE_NAME(synFail)
    HPU_SYNAPSE_NAME(synOutOfResources)
    HPU_SYNAPSE_NAME(synUninitialized)
    HPU_SYNAPSE_NAME(synAlreadyInitialized)
    HPU_SYNAPSE_NAME(synFailedSectionValidation)
    HPU_SYNAPSE_NAME(synSynapseTerminated)
    HPU_SYNAPSE_NAME(synAssertAsync)
    HPU_SYNAPSE_NAME(synInvalidEventHandle)
    HPU_SYNAPSE_NAME(synMappingNotFound)
    HPU_SYNAPSE_NAME(synFailedDynamicPatching)
    HPU_SYNAPSE_NAME(synFailedStaticPatching)
    HPU_SYNAPSE_NAME(synFailedToSubmitWorkload)
    HPU_SYNAPSE_NAME(synInvalidSectionsDefinition)
    HPU_SYNAPSE_NAME(synInvalidTensorProperties)
    HPU_SYNAPSE_NAME(synFailHccl)
    HPU_SYNAPSE_NAME(synFailedToCollectTime)
    HPU_SYNAPSE_NAME(synTimeout)
    HPU_SYNAPSE_NAME(synResourceBadUsage)
  }
#undef HPU_SYNAPSE_NAME
  return "unknown status";
}

// Whether the device is lost for good after this status.
inline bool LosesDevice(synStatus status) { return status == synDeviceReset || status == synSynapseTerminated; }

}  // namespace hpu::synapse

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_STATUS_NAMES_H_
