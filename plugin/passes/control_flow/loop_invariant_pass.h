// Removal of control edges from a loop's invariants to nodes on other devices.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_LOOP_INVARIANT_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_LOOP_INVARIANT_PASS_H_

#include "tensorflow/core/common_runtime/optimization_registry.h"

namespace hpu::passes {

// An invariant is available in every iteration, so no node has to wait for it. Grappler leaves such edges when it
// removes the unused read of a variable. If such an edge crosses devices, TensorFlow's partitioning sends the signal
// only in the loop's first iteration, and the second waits forever (tensorflow/core/graph/graph_partition.cc).
tensorflow::Status RunLoopInvariantPass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_LOOP_INVARIANT_PASS_H_
