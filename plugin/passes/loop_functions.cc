#include "plugin/passes/loop_functions.h"

#include <algorithm>

#include "tensorflow/core/common_runtime/function_def_utils.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tsl/platform/errors.h"

namespace hpu::passes {

using tensorflow::FunctionBody;
using tensorflow::FunctionLibraryDefinition;
using tensorflow::Node;

absl::StatusOr<std::unique_ptr<FunctionBody>> LoopFunction(const Node& loop, const char* attr,
                                                           const FunctionLibraryDefinition& library) {
  tensorflow::NameAttrList function;
  TF_RETURN_IF_ERROR(tensorflow::GetNodeAttr(loop.attrs(), attr, &function));
  const tensorflow::FunctionDef* definition = library.Find(function.name());
  if (definition == nullptr) return absl::NotFoundError(function.name());
  std::unique_ptr<FunctionBody> body;
  TF_RETURN_IF_ERROR(
      tensorflow::FunctionDefToBodyHelper(*definition, tensorflow::AttrSlice(&function.attr()), &library, &body));
  return body;
}

const Node* SourceOf(const Node& node, int input) {
  const Node* source = nullptr;
  if (!node.input_node(input, &source).ok()) return nullptr;
  while (source->IsIdentity()) {
    if (!source->input_node(0, &source).ok()) return nullptr;
  }
  return source;
}

int LoopValueOf(const FunctionBody& function, const Node* node) {
  const auto found = std::find(function.arg_nodes.begin(), function.arg_nodes.end(), node);
  return found == function.arg_nodes.end() ? -1 : static_cast<int>(found - function.arg_nodes.begin());
}

bool IsInvariant(const FunctionBody& body, int value) {
  return SourceOf(*body.ret_nodes[value], 0) == body.arg_nodes[value];
}

}  // namespace hpu::passes
