// Loops and branches that compile stay whole.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_CONTROL_FLOW_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_CONTROL_FLOW_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"

namespace hpu::passes {

// TensorFlow turns While, If and Case into Switch and Merge before placement (phase 10 of PRE_PLACEMENT), in the same
// sweep that inlines function calls. A cluster can only hold them whole. So one pass hides them from that sweep, and
// another, after it, sees the inlined graph and lowers those that cannot be in a cluster.

// Renames the attribute that asks for lowering, in the graph and in the functions of its library.
absl::Status HideControlFlow(tensorflow::Graph* graph, tensorflow::FunctionLibraryDefinition* library);

// Lowers what must not stay whole and takes HideControlFlow's attribute away. `options` are those of the pass. A node
// stays whole if its functions compile, it is not pinned to another device, the size of every TensorList that it takes
// is known and all ops that share a TensorList with it may be in clusters too. Reasons for others go to the report.
absl::Status LowerRemainingControlFlow(PassContext* context, const tensorflow::GraphOptimizationPassOptions& options);

// HideControlFlow for TensorFlow's pass over a graph (phases.cc).
tensorflow::Status RunHidePass(const tensorflow::GraphOptimizationPassOptions& options);

// LowerRemainingControlFlow for TensorFlow's pass over a graph (phases.cc).
tensorflow::Status RunLowerPass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_CONTROL_FLOW_PASS_H_
