// One call of a function becomes part of its graph.
#ifndef HPU_PLUGIN_PASSES_FUNCTIONS_INLINE_CALL_H_
#define HPU_PLUGIN_PASSES_FUNCTIONS_INLINE_CALL_H_

#include "absl/status/statusor.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Puts the function's nodes in the place of `call`, a PartitionedCall or an op that has the function's name; false, and
// nothing changed, if the function is not in the library or must not be inlined.
absl::StatusOr<bool> InlineCall(tensorflow::Node* call, tensorflow::Graph* graph,
                                const tensorflow::FunctionLibraryDefinition& library);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_FUNCTIONS_INLINE_CALL_H_
