#include "plugin/backends/gaudi/synapse/status.h"

#include "plugin/base/version/contact.h"

namespace hpu::synapse {
namespace {

// What a user can do about a status.
absl::string_view Advice(synStatus status) {
  switch (status) {
    case synOutOfHostMemory:
      return "the host has no memory that the device can access; free some, or raise the limit of locked memory";
    case synOutOfDeviceMemory:
    case synFailedToAllocateDeviceMemory:
      return "the device has too little free memory; use a smaller batch, or end other processes on the device";
    case synNoDeviceFound:
    case synFailedNotEnoughDevicesFound:
      return "the driver shows too few devices; check hl-smi, and HABANA_VISIBLE_DEVICES in a container";
    case synDeviceAlreadyAcquired:
      return "another process holds the device; end it, or select another module with HLS_MODULE_ID";
    case synAllResourcesTaken:
      return "this process already holds a device; it can hold one at a time, so release that one first";
    case synDeviceReset:
    case synSynapseTerminated:
      return "the device is lost; restart the process, and see the driver's log for the reason";
    case synUnsupported:
      return "this device or SynapseAI release lacks the feature";
    case synBusy:
      return "queued work has not ended; try again later";
    case synUninitialized:
      return "SynapseAI is not initialised in this process; " HPU_REPORT_BUG;
    default:
      return "see SynapseAI's logs for details; HABANA_LOGS sets their folder";
  }
}

}  // namespace

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
