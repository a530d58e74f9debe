// Access to the functions of loops and branches, for passes that analyse or rewrite them.
#ifndef HPU_PLUGIN_PASSES_FUNCTIONS_LOOP_FUNCTIONS_H_
#define HPU_PLUGIN_PASSES_FUNCTIONS_LOOP_FUNCTIONS_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/compat/function_bodies.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// The functional loops of a graph.
std::vector<tensorflow::Node*> LoopsOf(const tensorflow::Graph& graph);

// The function in a loop's attribute ("cond", "body"), as a graph. Inlines functions that the function calls by name,
// as in tf.compat.v1. Fails with NOT_FOUND if the library lacks the function.
absl::StatusOr<std::unique_ptr<tensorflow::FunctionBody>> LoopFunction(
    const tensorflow::Node& loop, const char* attr, const tensorflow::FunctionLibraryDefinition& library);

// The node that computes an input, skipping identities; null if the input is not connected.
const tensorflow::Node* SourceOf(const tensorflow::Node& node, int input);

// The index of the loop value for an argument of the loop's function; -1 if the node is not an argument.
int LoopValueOf(const tensorflow::FunctionBody& function, const tensorflow::Node* node);

// Whether each iteration returns loop value `value` unchanged.
bool IsInvariant(const tensorflow::FunctionBody& body, int value);

// Adds `function` to the library as a new function whose name ends in `suffix`, and sets it as the function in the
// attribute `attr` of a loop or an If ("cond", "body", "then_branch", "else_branch").
absl::Status SetFunction(tensorflow::Node* node, const char* attr, const tensorflow::FunctionBody& function,
                         const char* suffix, tensorflow::FunctionLibraryDefinition* library);

// The functions of a loop (condition, body), of an If (true, false) or of a Case; empty for other nodes.
std::vector<tensorflow::NameAttrList> FunctionsOf(const tensorflow::Node& node);

// Sets the functions of a loop or branch, in the order of FunctionsOf.
void SetFunctions(const std::vector<tensorflow::NameAttrList>& functions, tensorflow::NodeDef* node);

// The branches of an If or a Case, as graphs, like LoopFunction.
absl::StatusOr<std::vector<std::unique_ptr<tensorflow::FunctionBody>>> BranchFunctions(
    const tensorflow::Node& branch, const tensorflow::FunctionLibraryDefinition& library);

// SetFunction for all branches of an If or a Case.
absl::Status SetBranches(tensorflow::Node* branch,
                         const std::vector<std::unique_ptr<tensorflow::FunctionBody>>& functions, const char* suffix,
                         tensorflow::FunctionLibraryDefinition* library);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_FUNCTIONS_LOOP_FUNCTIONS_H_
