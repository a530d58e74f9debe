// Calls that share TensorLists with the graph around them become part of it.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_INLINE_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_INLINE_PASS_H_

#include "absl/status/status.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Grappler leaves calls of functions that have several implementations (Keras's recurrent layers) as they are. Their
// gradients take lists from them, whose sizes the compiler finds only where it sees both. So calls that take or make
// TensorLists are inlined, and those in their bodies too. A call stays that the program pinned to another device, that
// must be compiled by itself or whose function must not be inlined.
absl::Status InlineListCalls(tensorflow::Graph* graph, const tensorflow::FunctionLibraryDefinition& library);

// The same for TensorFlow's pass over a graph (phases.cc).
tensorflow::Status RunInlinePass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_INLINE_PASS_H_
