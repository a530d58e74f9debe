// Inlining of a single function call.
#ifndef HPU_PLUGIN_PASSES_FUNCTIONS_INLINE_CALL_H_
#define HPU_PLUGIN_PASSES_FUNCTIONS_INLINE_CALL_H_

#include "absl/status/statusor.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Replaces `call` by the nodes of its function. `call` is a PartitionedCall, or an op whose type is the function's
// name. Returns false and changes nothing if the function is not in the library or must not be inlined.
absl::StatusOr<bool> InlineCall(tensorflow::Node* call, tensorflow::Graph* graph,
                                const tensorflow::FunctionLibraryDefinition& library);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_FUNCTIONS_INLINE_CALL_H_
