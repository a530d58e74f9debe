#include "plugin/tensorflow/kernels/cpu_fallback/lowered_control_flow.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "plugin/compat/tf_2_15/function_bodies.h"
#include "plugin/compat/tf_2_15/graph_rewrites.h"
#include "plugin/passes/functions/function_rewriter.h"
#include "plugin/passes/functions/functional_control_flow.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tsl/platform/errors.h"
#include "tsl/platform/statusor.h"

namespace hpu {
namespace {

using tensorflow::FunctionDef;
using tensorflow::FunctionLibraryDefinition;
using tensorflow::Graph;
using tensorflow::Node;
using tensorflow::NodeDef;

const char* const kLowerAttr = tensorflow::LowerFunctionalOpsPass::kLowerUsingSwitchMergeAttr;

bool HasControlFlow(const FunctionDef& function) {
  return absl::c_any_of(function.node_def(), [](const NodeDef& node) { return passes::IsFunctionalControlFlow(node); });
}

// Only functional loops accept conditions of other types than bool.
bool HasBoolCondition(const NodeDef& node, const FunctionLibraryDefinition& library) {
  const auto found = node.attr().find("cond");
  if (found == node.attr().end()) return true;  // a branch
  const FunctionDef* const condition = library.Find(found->second.func().name());
  return condition != nullptr && condition->signature().output_arg(0).type() == tensorflow::DT_BOOL;
}

void Mark(const FunctionLibraryDefinition& library, FunctionDef* function) {
  for (NodeDef& node : *function->mutable_node_def()) {
    if (passes::IsFunctionalControlFlow(node) && HasBoolCondition(node, library))
      (*node.mutable_attr())[kLowerAttr].set_b(true);
  }
}

absl::Status MarkAll(FunctionLibraryDefinition* library) {
  for (const std::string& name : library->ListFunctionNames()) {
    if (!HasControlFlow(*library->Find(name))) continue;
    FunctionDef marked = *library->Find(name);
    Mark(*library, &marked);
    TF_RETURN_IF_ERROR(library->ReplaceFunction(name, marked));
  }
  return absl::OkStatus();
}

// Lowering removes nodes, among them control results. Returns the function's control results as nodes that stay.
absl::StatusOr<FunctionDef> WithLastingResults(const FunctionDef& function, Graph* graph) {
  FunctionDef lasting = function;
  std::map<std::string, Node*> nodes;
  for (Node* node : graph->op_nodes()) nodes[node->name()] = node;
  for (auto& [result, name] : *lasting.mutable_control_ret()) {
    NodeDef after;
    after.set_name(graph->NewName(name + "/done"));
    after.set_op("NoOp");
    TF_ASSIGN_OR_RETURN(Node * node, graph->AddNode(std::move(after)));
    if (const auto found = nodes.find(name); found != nodes.end()) graph->AddControlEdge(found->second, node);
    name = node->name();
  }
  return lasting;
}

}  // namespace

absl::StatusOr<FunctionDef> WithLoweredControlFlow(const FunctionDef& function, FunctionLibraryDefinition* library) {
  TF_RETURN_IF_ERROR(MarkAll(library));
  if (!HasControlFlow(function)) return function;
  FunctionDef marked = function;
  Mark(*library, &marked);
  TF_ASSIGN_OR_RETURN(const std::unique_ptr<tensorflow::FunctionBody> body, MakeFunctionBody(marked, *library));
  auto graph = std::make_unique<Graph>(library);
  tensorflow::CopyGraph(*body->graph, graph.get());
  TF_ASSIGN_OR_RETURN(const FunctionDef lasting, WithLastingResults(function, graph.get()));
  tensorflow::GraphOptimizationPassOptions options;
  options.graph = &graph;
  options.flib_def = library;
  TF_RETURN_IF_ERROR(tensorflow::LowerFunctionalOpsPass().Run(options));
  return passes::FunctionLike(lasting, *graph, function.signature().name());
}

}  // namespace hpu
