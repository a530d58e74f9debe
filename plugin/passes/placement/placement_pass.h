// CPU placement of ops that must not run on the HPU, before TensorFlow places the graph.
#ifndef HPU_PLUGIN_PASSES_PLACEMENT_PLACEMENT_PASS_H_
#define HPU_PLUGIN_PASSES_PLACEMENT_PLACEMENT_PASS_H_

#include <string>

#include "absl/status/status.h"
#include "plugin/passes/analysis/placement_policy.h"
#include "plugin/passes/reporting/pass_context.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"

namespace hpu::passes {

// Requests `host` (the CPU of a full device name, or "/device:CPU:0") for nodes that `policy` refuses. The settings
// override a program that asks for an HPU. Ops that share a handle (variables) stay together: they move if the op that
// makes the handle moves. Otherwise a refused op stays on the HPU, outside clusters, and its kernel runs it on the CPU,
// on copies. Each refused node, and each without an HPU kernel, gets kRefusalAttr. Reference variables are an error
// unless the settings allow them on the CPU.
absl::Status PlaceUnsupportedOpsOnCpu(PassContext* context, const PlacementPolicy& policy, const std::string& host);

// Reports the reasons in kRefusalAttr of the placed graph. Removes the attribute, except from nodes on an HPU, where
// marking reads it.
void RecordPlacement(PassContext* context);

// PlaceUnsupportedOpsOnCpu as a TensorFlow graph pass (phases.cc).
tensorflow::Status RunPlacementPass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PLACEMENT_PLACEMENT_PASS_H_
