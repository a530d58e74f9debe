// Shapes of the placeholders that branches return for each other's tensors.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_PLACEHOLDER_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_PLACEHOLDER_PASS_H_

#include "absl/status/statusor.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// A branch returns the tensors that its gradient needs, and the other branches return placeholders for them (FakeParam;
// tensorflow/python/ops/cond_v2.py). Compiled branches must return equal shapes, but a placeholder of unknown shape has
// no elements. This pass replaces such a placeholder by zeros like the tensor, and copies the ops that compute the
// tensor into the placeholder's branch. The compiler reads only the copy's shape, and removes it. The zeros keep the
// placeholder's shape in the attribute kPlaceholderAttr. Returns whether the graph changed.
absl::StatusOr<bool> GiveShapesToPlaceholders(tensorflow::Graph* graph, tensorflow::FunctionLibraryDefinition* library);

// GiveShapesToPlaceholders for a graph and its functions, as a TensorFlow graph pass (phases.cc).
tensorflow::Status RunPlaceholderPass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_PLACEHOLDER_PASS_H_
