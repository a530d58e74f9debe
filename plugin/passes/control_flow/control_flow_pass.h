// Whole control flow: passes that keep loops and branches functional if they compile.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_CONTROL_FLOW_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_CONTROL_FLOW_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"

namespace hpu::passes {

// TensorFlow lowers While, If and Case to Switch and Merge before placement (phase 10 of PRE_PLACEMENT), in the pass
// that also inlines function calls. A cluster can hold only functional ones. So one pass hides them from TensorFlow's
// pass. Another pass runs after it on the inlined graph, and lowers loops and branches that cannot be in a cluster.

// Renames the attribute that asks for lowering, in the graph and in the functions of its library.
absl::Status HideControlFlow(tensorflow::Graph* graph, tensorflow::FunctionLibraryDefinition* library);

// Lowers the loops and branches that must not stay whole, and removes HideControlFlow's attribute. `options` are the
// options of the pass. A node stays whole under four conditions: its functions compile; it is not pinned to another
// device; the size of every TensorList that it takes is known; all ops that share a TensorList with it may be in
// clusters too. The report gets the reason for each lowered node.
absl::Status LowerRemainingControlFlow(PassContext* context, const tensorflow::GraphOptimizationPassOptions& options);

// HideControlFlow as a TensorFlow graph pass (phases.cc).
tensorflow::Status RunHidePass(const tensorflow::GraphOptimizationPassOptions& options);

// LowerRemainingControlFlow as a TensorFlow graph pass (phases.cc).
tensorflow::Status RunLowerPass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_CONTROL_FLOW_PASS_H_
