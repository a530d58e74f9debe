#include "plugin/passes/functions/loop_functions.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/passes/functions/function_rewriter.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/graph/algorithm.h"

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
  for (Node* call : calls) HPU_RETURN_IF_ERROR(InlineCall(call, graph, library).status());
  if (!calls.empty()) tensorflow::FixupSourceAndSinkEdges(graph);
  return absl::OkStatus();
}

absl::Status NoFunction(const Node& node, const std::string& function) {
  return absl::NotFoundError(absl::StrCat(node.type_string(), " ", node.name(), ": its function ", function,
                                          " is not in the function library; save the graph together with its "
                                          "functions"));
}

absl::StatusOr<std::unique_ptr<FunctionBody>> FunctionOf(const Node& node, const tensorflow::NameAttrList& function,
                                                         const FunctionLibraryDefinition& library) {
  if (library.Find(function.name()) == nullptr) return NoFunction(node, function.name());
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<FunctionBody> body, MakeFunctionBody(function, library));
  HPU_RETURN_IF_ERROR(InlineWrapped(body->graph, library));
  return body;
}

// Adds a function with the graph of `body` to the library, and names it in `function` instead of the old one.
absl::Status Replace(const Node& node, const FunctionBody& body, const char* suffix, FunctionLibraryDefinition* library,
                     tensorflow::NameAttrList* function) {
  const tensorflow::FunctionDef* const definition = library->Find(function->name());
  if (definition == nullptr) return NoFunction(node, function->name());
  const std::string name = library->UniqueFunctionName(absl::StrCat(function->name(), suffix));
  HPU_ASSIGN_OR_RETURN(const tensorflow::FunctionDef rewritten, FunctionLike(*definition, *body.graph, name));
  HPU_RETURN_IF_ERROR(library->AddFunctionDef(rewritten));
  function->set_name(name);
  return absl::OkStatus();
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
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(loop.attrs(), attr, &function));
  return FunctionOf(loop, function, library);
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

absl::Status SetFunction(Node* node, const char* attr, const FunctionBody& function, const char* suffix,
                         FunctionLibraryDefinition* library) {
  tensorflow::NameAttrList named;
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(node->attrs(), attr, &named));
  HPU_RETURN_IF_ERROR(Replace(*node, function, suffix, library, &named));
  node->ClearAttr(attr);
  node->AddAttr(attr, named);
  return absl::OkStatus();
}

std::vector<tensorflow::NameAttrList> FunctionsOf(const Node& node) {
  std::vector<tensorflow::NameAttrList> functions;
  const auto add = [&](const char* attr) {
    tensorflow::GetNodeAttr(node.attrs(), attr, &functions.emplace_back()).IgnoreError();
  };
  if (node.IsWhileNode()) {
    for (const char* attr : {"cond", "body"}) add(attr);
  } else if (node.IsIfNode()) {
    for (const char* attr : {"then_branch", "else_branch"}) add(attr);
  } else if (node.IsCaseNode()) {
    tensorflow::GetNodeAttr(node.attrs(), "branches", &functions).IgnoreError();
  }
  return functions;
}

void SetFunctions(const std::vector<tensorflow::NameAttrList>& functions, tensorflow::NodeDef* node) {
  auto& attrs = *node->mutable_attr();
  const auto set = [&](const char* first, const char* second) {
    *attrs[first].mutable_func() = functions[0];
    *attrs[second].mutable_func() = functions[1];
  };
  if (attrs.contains("body")) {
    set("cond", "body");
  } else if (attrs.contains("then_branch")) {
    set("then_branch", "else_branch");
  } else {
    for (size_t i = 0; i < functions.size(); ++i) *attrs["branches"].mutable_list()->mutable_func(i) = functions[i];
  }
}

absl::StatusOr<std::vector<std::unique_ptr<FunctionBody>>> BranchFunctions(const Node& branch,
                                                                           const FunctionLibraryDefinition& library) {
  std::vector<std::unique_ptr<FunctionBody>> functions;
  for (const tensorflow::NameAttrList& function : FunctionsOf(branch)) {
    HPU_ASSIGN_OR_RETURN(std::unique_ptr<FunctionBody> body, FunctionOf(branch, function, library));
    functions.push_back(std::move(body));
  }
  return functions;
}

absl::Status SetBranches(Node* branch, const std::vector<std::unique_ptr<FunctionBody>>& functions, const char* suffix,
                         FunctionLibraryDefinition* library) {
  std::vector<tensorflow::NameAttrList> named = FunctionsOf(*branch);
  for (size_t i = 0; i < named.size(); ++i)
    HPU_RETURN_IF_ERROR(Replace(*branch, *functions[i], suffix, library, &named[i]));
  tensorflow::NodeDef definition = branch->def();
  SetFunctions(named, &definition);
  for (const char* attr : {"then_branch", "else_branch", "branches"}) {
    const auto found = definition.attr().find(attr);
    if (found == definition.attr().end()) continue;
    branch->ClearAttr(attr);
    branch->AddAttr(attr, found->second);
  }
  return absl::OkStatus();
}

}  // namespace hpu::passes
