// CPU placement of ops that must not run on the HPU, before TensorFlow places the graph.
#ifndef HPU_PLUGIN_PASSES_PLACEMENT_PLACEMENT_PASS_H_
#define HPU_PLUGIN_PASSES_PLACEMENT_PLACEMENT_PASS_H_

#include <string>

#include "absl/status/status.h"
#include "plugin/passes/analysis/placement_policy.h"
#include "plugin/passes/reporting/pass_context.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"

namespace hpu::passes {

// Requests a CPU for nodes that `policy` refuses, even if the program requests an HPU: CPU:0 of the requested task, or
// `host` (the full name of a CPU, or "/device:CPU:0") if the program requests no task. Ops that share a resource handle
// stay together: they move if the op that creates the handle moves. Otherwise a refused op stays on the HPU, outside
// clusters, and its CPU kernel runs on copies of the tensors. A refused op without a CPU kernel also stays; a warning
// names the op. Sets kRefusalAttr on all other refused nodes, and on nodes without an HPU kernel. Fails for reference
// variables on the HPU, unless the settings allow reference variables on the CPU.
absl::Status PlaceUnsupportedOpsOnCpu(PassContext* context, const PlacementPolicy& policy, const std::string& host);

// Reports the refusals in kRefusalAttr of a placed graph, and the nodes that the program placed on other devices.
// Removes the attribute from nodes that are not on an HPU; marking reads the attribute of HPU nodes.
void RecordPlacement(PassContext* context);

// PlaceUnsupportedOpsOnCpu as a TensorFlow graph pass (phases.cc).
tensorflow::Status RunPlacementPass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PLACEMENT_PLACEMENT_PASS_H_
