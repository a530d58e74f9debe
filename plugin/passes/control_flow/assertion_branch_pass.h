// Assertions in branches of their own.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_ASSERTION_BRANCH_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_ASSERTION_BRANCH_PASS_H_

#include "absl/status/status.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// tf.Assert puts the op Assert into a branch that runs if the condition is false
// (tensorflow/python/ops/control_flow_assert.py). No cluster can hold such a branch, so it would be lowered. This pass
// replaces each If whose only op is such an Assert by the Assert, which has the If's name.
absl::Status UnwrapAssertions(tensorflow::Graph* graph, const tensorflow::FunctionLibraryDefinition& library);

// UnwrapAssertions as a TensorFlow graph pass (phases.cc).
tensorflow::Status RunAssertionBranchPass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_ASSERTION_BRANCH_PASS_H_
