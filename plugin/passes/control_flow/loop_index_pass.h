// Indices that a loop counts need no check.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_LOOP_INDEX_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_LOOP_INDEX_PASS_H_

#include "absl/status/status.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// An op that checks its indices (op_rules.h) keeps a loop from being compiled, since nobody could see its error. Many
// loops index with their counter (`tf.gather(x, i)` while `i < tf.shape(x)[0]`): where what the condition says of a
// counter, a constant added to it or not, and the shape of what is indexed show that no index can be out of range, the
// op in the loop's body gets kInRangeAttr. An op on a TensorList gets kUncheckedAttr where they show that an index goes
// beyond the list. The body that has it is a function of the loop's own.
absl::Status MarkCountedIndices(tensorflow::Graph* graph, tensorflow::FunctionLibraryDefinition* library);

// The same for TensorFlow's pass over a graph (phases.cc).
tensorflow::Status RunLoopIndexPass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_LOOP_INDEX_PASS_H_
