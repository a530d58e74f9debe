// Checks of indices in loops, after the loops.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_LOOP_CHECK_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_LOOP_CHECK_PASS_H_

#include "absl/status/status.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Compiled code cannot raise the error of an index out of range, and a check on the CPU inside a loop would lower the
// loop. This pass makes each loop test its indices and carry the first ones that fail out of the loop. There, a
// HabanaLoopIndices stands for the op, and check_pass.h adds the check to it. Applies to elements of tensors by
// computed indices (StridedSlice), to elements of TensorLists, and to the ops with `indices` in op_facts.yaml, but for
// segment ids and permutations. Loops whose bodies update variables keep their checks, because earlier iterations'
// updates stay after an error. So do indices of unknown shape.
absl::Status MoveChecksBehindLoops(tensorflow::Graph* graph, tensorflow::FunctionLibraryDefinition* library);

tensorflow::Status RunLoopCheckPass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_LOOP_CHECK_PASS_H_
