#include "plugin/backends/gaudi/synapse/status.h"

namespace hpu::synapse {
namespace {

// What a user can do about a status; empty if there is nothing to say.
absl::string_view Advice(synStatus status) {
  switch (status) {
    case synOutOfHostMemory:
      return "the host has no memory that the device can access; free some, or raise the limit of locked memory";
    case synOutOfDeviceMemory:
    case synFailedToAllocateDeviceMemory:
      return "the device has too little free memory; use a smaller batch, or end other users of the device";
    case synNoDeviceFound:
    case synFailedNotEnoughDevicesFound:
      return "the driver shows too few devices; check hl-smi, and HABANA_VISIBLE_DEVICES in a container";
    case synDeviceAlreadyAcquired:
    case synAllResourcesTaken:
      return "another process holds the device; end it, or select another module with HLS_MODULE_ID";
    case synDeviceReset:
    case synSynapseTerminated:
      return "the device is lost; restart the process, and see the driver's log for the reason";
    case synUnsupported:
      return "this device or SynapseAI release lacks the feature";
    case synBusy:
      return "queued work has not ended; try again later";
    case synUninitialized:
      return "SynapseAI is not initialised in this process";
    default:
      return "HABANA_LOGS names the folder of SynapseAI's logs, which hold details";
  }
}

}  // namespace

absl::string_view StatusName(synStatus status) {
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

absl::StatusCode StatusCode(synStatus status) {
  switch (status) {
    case synSuccess:
      return absl::StatusCode::kOk;
    case synInvalidArgument:
    case synInvalidTensorDimensions:
    case synInvalidTensorProperties:
      return absl::StatusCode::kInvalidArgument;
    case synOutOfHostMemory:
    case synOutOfDeviceMemory:
    case synFailedToAllocateDeviceMemory:
    case synOutOfResources:
      return absl::StatusCode::kResourceExhausted;
    case synNoDeviceFound:
    case synFailedNotEnoughDevicesFound:
    case synDeviceAlreadyAcquired:
    case synAllResourcesTaken:
    case synBusy:
    case synUnavailable:
      return absl::StatusCode::kUnavailable;
    case synDeviceReset:
    case synSynapseTerminated:
      return absl::StatusCode::kAborted;
    case synUnsupported:
      return absl::StatusCode::kUnimplemented;
    case synTimeout:
      return absl::StatusCode::kDeadlineExceeded;
    default:
      return absl::StatusCode::kInternal;
  }
}

bool LosesDevice(synStatus status) { return status == synDeviceReset || status == synSynapseTerminated; }

absl::Status ToStatus(synStatus status, absl::string_view function, absl::string_view arguments) {
  if (status == synSuccess) return absl::OkStatus();
  return absl::Status(StatusCode(status), absl::StrCat(function, "(", arguments, ") failed with ", StatusName(status),
                                                       " (", static_cast<uint32_t>(status), "): ", Advice(status)));
}

absl::Status MissingFunction(absl::string_view function) {
  return absl::UnimplementedError(
      absl::StrCat(function, " failed: this SynapseAI release does not export it; install a later release"));
}

}  // namespace hpu::synapse
