// Removal of control edges from loop invariants to nodes on other devices.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_LOOP_INVARIANT_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_LOOP_INVARIANT_PASS_H_

#include "tensorflow/core/common_runtime/optimization_registry.h"

namespace hpu::passes {

// An invariant is available in every iteration, so control edges from an invariant are redundant. Grappler leaves such
// an edge after removing an unused read of a variable. If the edge crosses devices, TensorFlow's partitioning sends the
// signal only in the first iteration, and the second iteration waits forever
// (tensorflow/core/graph/graph_partition.cc).
tensorflow::Status RunLoopInvariantPass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_LOOP_INVARIANT_PASS_H_
