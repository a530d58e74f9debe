// Size bounds for TensorLists that loops fill for their gradients.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_LIST_BOUND_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_LIST_BOUND_PASS_H_

#include "absl/status/statusor.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// A differentiated loop pushes the values that its gradient needs onto TensorLists. TensorFlow creates these lists
// without a bound, even if the loop has a bound. Then neither the loop nor its gradient compiles. This pass sets the
// bound if the loop's condition compares a counter with a constant or a size. The pass applies to lists that start
// empty and grow by one element in each iteration. Returns whether the graph changed.
absl::StatusOr<bool> BoundAccumulators(tensorflow::Graph* graph, tensorflow::FunctionLibraryDefinition* library);

// BoundAccumulators for a graph and the functions of its loops and branches, as a TensorFlow graph pass (phases.cc).
tensorflow::Status RunListBoundPass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_LIST_BOUND_PASS_H_
