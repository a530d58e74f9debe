// Proof that indices made from loop counters are in range, so that they need no check.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_LOOP_INDEX_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_LOOP_INDEX_PASS_H_

#include "absl/status/status.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// An op that checks its indices (op_rules.h) keeps a loop from being compiled, because its error would be lost. Many
// loops index with their counter (`tf.gather(x, i)` while `i < tf.shape(x)[0]`). The pass compares the range of the
// counter, with or without an added constant, with the shape of the indexed tensor. If no index can be out of range,
// the op in the loop's body gets kInRangeAttr. An op on a TensorList gets kUncheckedAttr if the range exceeds the list.
// Each changed body becomes a function that only this loop uses.
absl::Status MarkCountedIndices(tensorflow::Graph* graph, tensorflow::FunctionLibraryDefinition* library);

// MarkCountedIndices as a TensorFlow graph pass (phases.cc).
tensorflow::Status RunLoopIndexPass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_LOOP_INDEX_PASS_H_
