// Placement of reference variables, which old programs make and the HPU does not support.
#ifndef HPU_PLUGIN_PASSES_PLACEMENT_LEGACY_VARIABLES_H_
#define HPU_PLUGIN_PASSES_PLACEMENT_LEGACY_VARIABLES_H_

#include <string>

#include "absl/status/status.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Places all ops that take or return references on `host` if TF_HABANA_ALLOW_LEGACY_VARIABLES_ON_CPU is true. Otherwise
// fails for a reference variable unless the program itself placed it on another device.
absl::Status PlaceLegacyVariables(tensorflow::Graph* graph, const std::string& host);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PLACEMENT_LEGACY_VARIABLES_H_
