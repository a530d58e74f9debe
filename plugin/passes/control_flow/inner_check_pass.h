// Checks of indices and values in loops and branches, after these.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_INNER_CHECK_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_INNER_CHECK_PASS_H_

#include "absl/status/status.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Compiled code cannot raise the error of an index out of range, and a check on the CPU inside a loop or branch would
// lower it. This pass makes loops and branches return the indices: a branch those of its ops, and a loop the first ones
// that fail its tests. After the loop or branch, a HabanaInnerIndices stands for the op, and check_pass.h adds the
// check to it. Applies to elements of tensors by computed indices (StridedSlice), to elements of TensorLists, and to
// the ops with `indices` in op_facts.yaml, but for segment ids and permutations. Ops with `values` have
// HabanaInnerValues and value_check_pass.h instead. Functions that update variables keep their checks, because updates
// before the error stay. So do indices of unknown shape.
absl::Status MoveChecksOut(tensorflow::Graph* graph, tensorflow::FunctionLibraryDefinition* library);

tensorflow::Status RunInnerCheckPass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_INNER_CHECK_PASS_H_
