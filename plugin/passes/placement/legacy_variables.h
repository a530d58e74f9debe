// Placement of legacy (reference) variables, which the HPU does not support.
#ifndef HPU_PLUGIN_PASSES_PLACEMENT_LEGACY_VARIABLES_H_
#define HPU_PLUGIN_PASSES_PLACEMENT_LEGACY_VARIABLES_H_

#include <string>

#include "absl/status/status.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// With TF_HABANA_ALLOW_LEGACY_VARIABLES_ON_CPU=true, places all ops with reference inputs or outputs on `host`.
// Otherwise fails with INVALID_ARGUMENT for a reference variable. Ignores ops that the program placed on a device other
// than the HPU.
absl::Status PlaceLegacyVariables(tensorflow::Graph* graph, const std::string& host);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PLACEMENT_LEGACY_VARIABLES_H_
