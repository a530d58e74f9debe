// Functional control flow: passes that keep loops and branches functional if a cluster can contain them.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_CONTROL_FLOW_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_CONTROL_FLOW_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"

namespace hpu::passes {

// TensorFlow's pass in phase 10 of PRE_PLACEMENT inlines function calls, and lowers While, If and Case to Switch and
// Merge. A cluster can contain only functional loops and branches. So HidePass hides While, If and Case from
// TensorFlow's pass. LowerPass runs later, on the inlined graph, and lowers the loops and branches that cannot be in a
// cluster.

// Renames the attribute that requests lowering, in the graph and in the library's functions. Also hides the indices of
// Case ops (case_index.h).
absl::Status HideControlFlow(tensorflow::Graph* graph, tensorflow::FunctionLibraryDefinition* library);

// Lowers the loops and branches that must not stay functional, and removes HideControlFlow's attribute. Reports the
// reason for each lowered node. `options` are the options of the pass.
//
// A node stays functional if a cluster may contain the node and its functions, and if its side effects do not depend on
// lowering (effect_rules.h). A node that is pinned to another device or uses a resource there is lowered. All ops that
// share a TensorList with a functional node must satisfy these rules, and no such list may have the constant size -1.
absl::Status LowerRemainingControlFlow(PassContext* context, const tensorflow::GraphOptimizationPassOptions& options);

// HideControlFlow as a TensorFlow graph pass (phases.cc).
tensorflow::Status RunHidePass(const tensorflow::GraphOptimizationPassOptions& options);

// LowerRemainingControlFlow as a TensorFlow graph pass (phases.cc).
tensorflow::Status RunLowerPass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_CONTROL_FLOW_PASS_H_
