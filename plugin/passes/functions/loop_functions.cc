#include "plugin/passes/functions/loop_functions.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/passes/functions/function_rewriter.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/graph/algorithm.h"
#include "tsl/platform/errors.h"
#include "tsl/platform/statusor.h"

namespace hpu::passes {

using tensorflow::FunctionBody;
using tensorflow::FunctionLibraryDefinition;
using tensorflow::Node;

namespace {

// Inlines functions that are called by name, as in loops of Defuns.
absl::Status InlineWrapped(tensorflow::Graph* graph, const FunctionLibraryDefinition& library) {
  std::vector<Node*> calls;
  for (Node* node : graph->op_nodes()) {
    if (node->IsFunctionCall() && !node->IsPartitionedCall()) calls.push_back(node);
  }
  for (Node* call : calls) TF_RETURN_IF_ERROR(InlineCall(call, graph, library).status());
  if (!calls.empty()) tensorflow::FixupSourceAndSinkEdges(graph);
  return absl::OkStatus();
}

absl::Status NoFunction(const Node& loop, const char* attr, const std::string& function) {
  return absl::NotFoundError(absl::StrCat("while loop ", loop.name(), ": its ", attr, " function ", function,
                                          " is not in the function library; save the graph together with its "
                                          "functions"));
}

}  // namespace

std::vector<Node*> LoopsOf(const tensorflow::Graph& graph) {
  std::vector<Node*> loops;
  for (Node* node : graph.op_nodes()) {
    if (node->IsWhileNode()) loops.push_back(node);
  }
  return loops;
}

absl::StatusOr<std::unique_ptr<FunctionBody>> LoopFunction(const Node& loop, const char* attr,
                                                           const FunctionLibraryDefinition& library) {
  tensorflow::NameAttrList function;
  TF_RETURN_IF_ERROR(tensorflow::GetNodeAttr(loop.attrs(), attr, &function));
  if (library.Find(function.name()) == nullptr) return NoFunction(loop, attr, function.name());
  TF_ASSIGN_OR_RETURN(std::unique_ptr<FunctionBody> body, MakeFunctionBody(function, library));
  TF_RETURN_IF_ERROR(InlineWrapped(body->graph, library));
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

absl::Status SetFunction(Node* loop, const char* attr, const FunctionBody& function, const char* suffix,
                         FunctionLibraryDefinition* library) {
  tensorflow::NameAttrList named;
  TF_RETURN_IF_ERROR(tensorflow::GetNodeAttr(loop->attrs(), attr, &named));
  const tensorflow::FunctionDef* const definition = library->Find(named.name());
  if (definition == nullptr) return NoFunction(*loop, attr, named.name());
  const std::string name = library->UniqueFunctionName(absl::StrCat(named.name(), suffix));
  TF_ASSIGN_OR_RETURN(const tensorflow::FunctionDef rewritten, FunctionLike(*definition, *function.graph, name));
  TF_RETURN_IF_ERROR(library->AddFunctionDef(rewritten));
  named.set_name(name);
  loop->ClearAttr(attr);
  loop->AddAttr(attr, named);
  return absl::OkStatus();
}

}  // namespace hpu::passes
