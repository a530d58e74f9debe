// Where the values of ops that run functions lie (If, Case, While, For, RemoteCall), and where such ops run.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_FUNCTION_VALUES_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_FUNCTION_VALUES_PASS_H_

#include "absl/status/status.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Keeps the int32 arguments and results of If, Case, For and RemoteCall in host memory, in the graph and in the
// library. Their kernels take int32 for device memory, the functions that they call take it for host memory.
absl::Status KeepInt32OnHost(tensorflow::Graph* graph, tensorflow::FunctionLibraryDefinition* library);

// The same for one node whose arguments or results have changed.
void KeepInt32OnHost(tensorflow::NodeDef* node);

// Sends loops and branches to the CPU that TensorFlow's kernels cannot run on the HPU: those with an op that has
// neither a kernel nor a lowering, and loops whose condition is int64 or a string, which the loop's kernel reads on the
// host.
void PlaceFunctionalNodes(tensorflow::Graph* graph, const tensorflow::FunctionLibraryDefinition& library);

// Both for TensorFlow's pass over a graph (phases.cc), wrappers of eager ops included.
tensorflow::Status RunFunctionValuesPass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_FUNCTION_VALUES_PASS_H_
