// Users of the variables that a loop returns take the variables that the loop got.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_LOOP_HANDLE_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_LOOP_HANDLE_PASS_H_

#include "absl/status/status.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// A loop returns the handle of each variable that it uses, and the loop of the gradient takes the returned handles. A
// cluster cannot compute a handle, so both loops would stay outside clusters. The pass connects the users with the
// source of the handle, and orders them after the loop by control edges.
absl::Status BypassLoopHandles(tensorflow::Graph* graph, const tensorflow::FunctionLibraryDefinition& library);

// BypassLoopHandles as a TensorFlow graph pass (phases.cc).
tensorflow::Status RunLoopHandlePass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_LOOP_HANDLE_PASS_H_
