// Lists that loops keep for their gradients get a size.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_LIST_BOUND_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_LIST_BOUND_PASS_H_

#include "absl/status/status.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// A loop that is differentiated pushes what its gradient needs onto TensorLists, which TensorFlow makes without a bound
// even where the loop has one: then neither loop compiles. So where a loop's condition compares a counter that moves up
// with a constant or a size that the graph knows, lists that begin empty and that it pushes one element onto in each
// turn get that bound.
absl::Status BoundAccumulators(tensorflow::Graph* graph, tensorflow::FunctionLibraryDefinition* library);

// The same for TensorFlow's pass over a graph (phases.cc).
tensorflow::Status RunListBoundPass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_LIST_BOUND_PASS_H_
