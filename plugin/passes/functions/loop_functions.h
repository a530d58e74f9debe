// Loops and their functions, for passes that analyse or rewrite them.
#ifndef HPU_PLUGIN_PASSES_FUNCTIONS_LOOP_FUNCTIONS_H_
#define HPU_PLUGIN_PASSES_FUNCTIONS_LOOP_FUNCTIONS_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tensorflow/core/common_runtime/function_body.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// The function in a loop's attribute ("cond", "body"), as a graph. Functions that it calls by name, as tf.compat.v1
// does, are part of it. NOT_FOUND if the library lacks it.
absl::StatusOr<std::unique_ptr<tensorflow::FunctionBody>> LoopFunction(
    const tensorflow::Node& loop, const char* attr, const tensorflow::FunctionLibraryDefinition& library);

// The node that computes an input, looking through identities; null if the input has none.
const tensorflow::Node* SourceOf(const tensorflow::Node& node, int input);

// The index of the loop value that an argument of the loop's function stands for; -1 if the node is not an argument.
int LoopValueOf(const tensorflow::FunctionBody& function, const tensorflow::Node* node);

// Whether each iteration passes the value on unchanged.
bool IsInvariant(const tensorflow::FunctionBody& body, int value);

// Makes `body` the body of the loop: a new function, whose name ends in `suffix` and which no other node uses.
absl::Status SetBody(tensorflow::Node* loop, const tensorflow::FunctionBody& body, const char* suffix,
                     tensorflow::FunctionLibraryDefinition* library);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_FUNCTIONS_LOOP_FUNCTIONS_H_
