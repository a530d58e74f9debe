// Status of SynapseAI calls as absl::Status, and HPU_SYNAPSE_CALL, which calls a function of the library.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_STATUS_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_STATUS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/gaudi/synapse/status_names.h"
#include "plugin/backends/gaudi/synapse/types.h"

namespace hpu::synapse {

// The code that the HAL documents for the status (docs/developer/hal.md). Internal for statuses that it does not name.
absl::StatusCode StatusCode(synStatus status);

// Error of a failed call. `arguments` holds the arguments that matter: "size=1024, device=0".
absl::Status ToStatus(synStatus status, absl::string_view function, absl::string_view arguments);

// Error of a call of an optional function that the library lacks.
absl::Status MissingFunction(absl::string_view function);

// Calls a function of a function table, and returns an absl::Status. The arguments after `parameters` are concatenated
// to the error's text:
//   HPU_SYNAPSE_CALL(functions, synDeviceMalloc, (device, size, 0, 0, &address), "size=", size)
#define HPU_SYNAPSE_CALL(functions, function, parameters, ...)                              \
  [&]() -> absl::Status {                                                                   \
    if ((functions).function == nullptr) return ::hpu::synapse::MissingFunction(#function); \
    const ::hpu::synapse::synStatus hpu_syn_status = (functions).function parameters;       \
    if (hpu_syn_status == ::hpu::synapse::synSuccess) return absl::OkStatus();              \
    return ::hpu::synapse::ToStatus(hpu_syn_status, #function, absl::StrCat(__VA_ARGS__));  \
  }()

}  // namespace hpu::synapse

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_STATUS_H_
