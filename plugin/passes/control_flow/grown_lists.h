// Sizes of TensorLists that a loop extends by one element in each iteration.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_GROWN_LISTS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_GROWN_LISTS_H_

#include "absl/status/statusor.h"
#include "plugin/passes/analysis/known_numbers.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// A list of tf.TensorArray(size=0, dynamic_size=True) grows when the loop writes element i in iteration i. A list that
// grows does not compile. If the number of iterations is a constant or a size, the list has this length after the loop,
// and is created with it. The writes then do not extend it. Applies to loops whose condition is only the comparison of
// the counter, so that the loop writes all elements. Returns whether the graph changed.
absl::StatusOr<bool> SizeGrownLists(tensorflow::Graph* graph, tensorflow::FunctionLibraryDefinition* library,
                                    KnownNumbers* known);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_GROWN_LISTS_H_
