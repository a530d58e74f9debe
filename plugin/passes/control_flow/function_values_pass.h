// Memory types and devices of ops that run functions (If, Case, While, For, RemoteCall).
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_FUNCTION_VALUES_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_FUNCTION_VALUES_PASS_H_

#include "absl/status/status.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Keeps the int32 arguments and results of If, Case, For and RemoteCall in host memory, in the graph and in the
// library. The kernels of these ops expect int32 in device memory, but the called functions expect int32 in host
// memory.
absl::Status KeepInt32OnHost(tensorflow::Graph* graph, tensorflow::FunctionLibraryDefinition* library);

// KeepInt32OnHost for one node whose arguments or results have changed; replaces existing attributes.
void KeepInt32OnHost(tensorflow::NodeDef* node);

// Moves a loop or branch to the CPU if TensorFlow's kernel cannot run it on the HPU, for one of two reasons:
//   - A called function contains an op with neither a kernel nor a lowering.
//   - A loop's condition returns int64 or a string, which the loop's kernel wrongly reads from host memory.
void PlaceFunctionalNodes(tensorflow::Graph* graph, const tensorflow::FunctionLibraryDefinition& library);

// PlaceFunctionalNodes and KeepInt32OnHost as a TensorFlow graph pass (phases.cc). Also rewrites wrappers of eager ops.
tensorflow::Status RunFunctionValuesPass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_FUNCTION_VALUES_PASS_H_
