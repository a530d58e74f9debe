// Inlining of calls whose TensorLists, loops or branches the other passes analyse.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_INLINE_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_INLINE_PASS_H_

#include <functional>

#include "absl/status/status.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Grappler does not inline calls of functions with several implementations (Keras's recurrent layers). The forward call
// passes TensorLists to the gradient's call, and the sizes of these lists can be found only if both calls are inlined.
// The sizes of a loop's lists, in turn, may be sizes of the call's arguments (a train step with @tf.function that
// Keras 3's fit calls). So this pass inlines calls with TensorLists among their arguments or results, and the calls of
// functions that contain such calls, loops or branches, also inside inlined functions. A call stays if it is pinned to
// another device, if its function has jit_compile=True, or if its function must not be inlined.
absl::Status InlineAnalysedCalls(tensorflow::Graph* graph, const tensorflow::FunctionLibraryDefinition& library);

// Inlines the calls for which `filter` is true, also inside inlined functions, with the same exceptions.
// `keep_names`: leaves NoOps with the names of the calls.
absl::Status InlineCalls(tensorflow::Graph* graph, const tensorflow::FunctionLibraryDefinition& library,
                         bool keep_names, const std::function<bool(const tensorflow::Node&)>& filter);

// InlineAnalysedCalls as a TensorFlow graph pass (phases.cc).
tensorflow::Status RunInlinePass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_INLINE_PASS_H_
