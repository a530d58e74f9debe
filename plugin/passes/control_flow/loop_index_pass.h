// Range analysis of indices that are loop counters, to avoid index checks in loops.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_LOOP_INDEX_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_LOOP_INDEX_PASS_H_

#include "absl/status/status.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// A loop with an op that checks its indices (op_facts.h) cannot be compiled, because the op's error would be lost. Many
// loops use their counter as the index (`tf.gather(x, i)` while `i < tf.shape(x)[0]`). The pass compares the range of
// the counter, plus or minus a constant, with the shape of the indexed tensor. If no index can be out of range, the
// pass sets kInRangeAttr on the op in the loop's body. If the range exceeds the length of a TensorList, the pass sets
// kUncheckedAttr on the list's op. The pass copies each changed body into a function that only this loop uses.
absl::Status MarkCountedIndices(tensorflow::Graph* graph, tensorflow::FunctionLibraryDefinition* library);

// MarkCountedIndices as a TensorFlow graph pass (phases.cc).
tensorflow::Status RunLoopIndexPass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_LOOP_INDEX_PASS_H_
