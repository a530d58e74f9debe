// Inlining of calls that share TensorLists with the graph around them.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_INLINE_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_INLINE_PASS_H_

#include "absl/status/status.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Grappler does not inline calls of functions with several implementations (Keras's recurrent layers). Their gradients
// take lists from them, and the compiler can find the lists' sizes only if it sees both. So this inlines calls that
// take or make TensorLists, also inside the inlined bodies. A call stays if the program pinned it to another device, if
// it must be compiled by itself, or if its function must not be inlined.
absl::Status InlineListCalls(tensorflow::Graph* graph, const tensorflow::FunctionLibraryDefinition& library);

// InlineListCalls as a TensorFlow graph pass (phases.cc).
tensorflow::Status RunInlinePass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_INLINE_PASS_H_
