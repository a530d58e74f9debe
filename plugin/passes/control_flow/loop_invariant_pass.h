// Removes control edges from a loop's invariants to nodes on other devices.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_LOOP_INVARIANT_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_LOOP_INVARIANT_PASS_H_

#include "tensorflow/core/common_runtime/optimization_registry.h"

namespace hpu::passes {

// An invariant is there in every turn, so that no node has to wait for it. Grappler leaves such edges where it drops
// the unused read of a variable. TensorFlow splits them between devices so that only the loop's first turn gets the
// signal, and the second waits for ever (tensorflow/core/graph/graph_partition.cc).
tensorflow::Status RunLoopInvariantPass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_LOOP_INVARIANT_PASS_H_
