// Loops and their functions, as passes read them.
#ifndef HPU_PLUGIN_PASSES_FUNCTIONS_LOOP_FUNCTIONS_H_
#define HPU_PLUGIN_PASSES_FUNCTIONS_LOOP_FUNCTIONS_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tensorflow/core/common_runtime/function_body.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// The function that a loop's attribute names ("cond", "body"), as a graph that holds what it calls by name, as the
// functions of tf.compat.v1 do. NotFound if the library lacks it.
absl::StatusOr<std::unique_ptr<tensorflow::FunctionBody>> LoopFunction(
    const tensorflow::Node& loop, const char* attr, const tensorflow::FunctionLibraryDefinition& library);

// The node that makes what an input takes, identities left out; null where there is none.
const tensorflow::Node* SourceOf(const tensorflow::Node& node, int input);

// Which of the loop's values an argument of one of its functions is; -1 for another node.
int LoopValueOf(const tensorflow::FunctionBody& function, const tensorflow::Node* node);

// Whether each turn hands a value on as it is.
bool IsInvariant(const tensorflow::FunctionBody& body, int value);

// Gives the loop `body` as its body: a function of its own, whose name ends in `suffix`.
absl::Status SetBody(tensorflow::Node* loop, const tensorflow::FunctionBody& body, const char* suffix,
                     tensorflow::FunctionLibraryDefinition* library);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_FUNCTIONS_LOOP_FUNCTIONS_H_
