// Checks of indices and values in loops and branches, after these.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_INNER_CHECK_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_INNER_CHECK_PASS_H_

#include <functional>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Compiled code cannot raise the error of an index out of range, and a check on the CPU inside a loop or branch would
// lower it. MoveChecksOut makes loops and branches return the indices: a branch those of its ops, and a loop the first
// ones that fail its tests. After the loop or branch, a HabanaInnerIndices stands for the op, and check_pass.h adds the
// check to it. Applies to elements of tensors by computed indices (StridedSlice), to elements of TensorLists, and to
// the ops with `indices` in op_facts.yaml. Ops with `values` have HabanaInnerValues and value_check_pass.h instead.
// Indices of unknown shape keep their checks.
//
// Updates of variables in the functions happen only if the tests pass (inner_guards.h). Calls KeepOriginal for each
// node (extended_nodes.h), and skips nodes for which it was called before.
//
// `filter`: whether a node gets checks. `control_results`: names of nodes that the graph's function runs even if their
// outputs are unused.
absl::Status MoveChecksOut(tensorflow::Graph* graph, const std::function<bool(const tensorflow::Node&)>& filter,
                           const absl::flat_hash_set<std::string>& control_results,
                           tensorflow::FunctionLibraryDefinition* library);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_INNER_CHECK_PASS_H_
