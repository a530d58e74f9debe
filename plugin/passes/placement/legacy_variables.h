// Reference variables, which old programs make and the HPU does not have.
#ifndef HPU_PLUGIN_PASSES_PLACEMENT_LEGACY_VARIABLES_H_
#define HPU_PLUGIN_PASSES_PLACEMENT_LEGACY_VARIABLES_H_

#include <string>

#include "absl/status/status.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Puts all ops that take or give references on `host`, if TF_HABANA_ALLOW_LEGACY_VARIABLES_ON_CPU is true; otherwise a
// reference variable that the program has not put on another device itself is an error.
absl::Status PlaceLegacyVariables(tensorflow::Graph* graph, const std::string& host);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PLACEMENT_LEGACY_VARIABLES_H_
