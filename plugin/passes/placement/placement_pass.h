// PlaceUnsupportedOpsOnCpu: before TensorFlow places a graph, sends to the CPU what must not be on the HPU.
#ifndef HPU_PLUGIN_PASSES_PLACEMENT_PLACEMENT_PASS_H_
#define HPU_PLUGIN_PASSES_PLACEMENT_PLACEMENT_PASS_H_

#include <string>

#include "absl/status/status.h"
#include "plugin/passes/analysis/placement_policy.h"
#include "plugin/passes/reporting/pass_context.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"

namespace hpu::passes {

// Asks for `host` (the CPU of a full device name, or "/device:CPU:0") on nodes that `policy` refuses, also where the
// program asks for an HPU: the settings are the later word. Ops that share a handle (variables) stay together: they
// move if the op that makes the handle moves; otherwise a refused one stays, out of clusters, and its kernel runs it on
// the CPU, on copies. Each refused node, and each that the HPU has no kernel for, gets kRefusalAttr. Reference
// variables are an error unless the settings allow them on the CPU.
absl::Status PlaceUnsupportedOpsOnCpu(PassContext* context, const PlacementPolicy& policy, const std::string& host);

// Enters the reasons that the pass left on the nodes of the placed graph into the report, and takes the attribute away
// but from nodes on an HPU: those the marking must see.
void RecordPlacement(PassContext* context);

// PlaceUnsupportedOpsOnCpu for TensorFlow's pass over a graph (phases.cc).
tensorflow::Status RunPlacementPass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PLACEMENT_PLACEMENT_PASS_H_
