#include "plugin/backends/gaudi/hccl/status.h"

#include <string>

namespace hpu::hccl {
namespace {

// What a user can do about a result.
absl::string_view HcclAdvice(hcclResult_t result) {
  switch (result) {
    case hcclNoDeviceFound:
      return "the process holds no device; acquire one first";
    case hcclUnsupported:
      return "this device or SynapseAI release lacks the feature";
    case hcclOutOfMemory:
      return "the device has too little free memory; raise TF_HCCL_MEMORY_ALLOWANCE_MB";
    case hcclSocketError:
    case hcclLibfabricError:
    case hcclPortDown:
      return "a rank has ended, or the network between the ranks failed; see the logs of the other ranks";
    case hcclTryAgain:
    case hcclBusy:
      return "earlier work has not ended; try again later";
    case hcclSynapseTerminated:
      return "the device is lost; restart the process, and see the driver's log for the reason";
    default:
      return "see SynapseAI's logs for details; HABANA_LOGS sets their folder";
  }
}

// The texts that the library has for a failed call: " (unhandled error: port 3 is down)"; empty if it has none.
std::string LibraryText(const Functions& functions, hcclResult_t result) {
  std::string text;
  for (const char* part :
       {functions.hcclGetErrorString == nullptr ? nullptr : functions.hcclGetErrorString(result),
        functions.hcclGetLastErrorMessage == nullptr ? nullptr : functions.hcclGetLastErrorMessage()}) {
    if (part != nullptr && *part != '\0') absl::StrAppend(&text, text.empty() ? " (" : ": ", part);
  }
  return text.empty() ? text : text + ")";
}

}  // namespace

absl::StatusCode StatusCode(hcclResult_t result) {
  switch (result) {
    case hcclSuccess:
      return absl::StatusCode::kOk;
    case hcclInvalidArgument:
    case hcclInvalidUsage:
      return absl::StatusCode::kInvalidArgument;
    case hcclOutOfMemory:
      return absl::StatusCode::kResourceExhausted;
    case hcclNoDeviceFound:
    case hcclTryAgain:
    case hcclBusy:
      return absl::StatusCode::kUnavailable;
    case hcclSocketError:
    case hcclLibfabricError:
    case hcclPortDown:
      return absl::StatusCode::kCancelled;
    case hcclSynapseTerminated:
      return absl::StatusCode::kAborted;
    case hcclUnsupported:
      return absl::StatusCode::kUnimplemented;
    default:
      return absl::StatusCode::kInternal;
  }
}

absl::Status ToStatus(const Functions& functions, hcclResult_t result, absl::string_view function,
                      absl::string_view arguments) {
  if (result == hcclSuccess) return absl::OkStatus();
  return absl::Status(StatusCode(result), absl::StrCat(function, "(", arguments, ") failed with ", ResultName(result),
                                                       " (", static_cast<int32_t>(result), ")",
                                                       LibraryText(functions, result), ": ", HcclAdvice(result)));
}

}  // namespace hpu::hccl
