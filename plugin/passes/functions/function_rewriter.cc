#include "plugin/passes/functions/function_rewriter.h"

#include <map>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/passes/functions/functional_control_flow.h"
#include "plugin/passes/graph/graph_util.h"
#include "tensorflow/core/framework/graph_to_functiondef.h"

namespace hpu::passes {

using tensorflow::AttrValue;
using tensorflow::FunctionDef;
using tensorflow::Graph;
using tensorflow::Node;

absl::StatusOr<FunctionDef> FunctionLike(const FunctionDef& original, const Graph& graph, const std::string& name) {
  std::map<std::string, std::string> control_results;  // node name to result name
  for (const auto& [result, node] : original.control_ret()) control_results[node] = result;
  const auto control_result = [&](const Node* node) -> absl::optional<std::string> {
    const auto found = control_results.find(node->name());
    return found == control_results.end() ? absl::nullopt : absl::make_optional(found->second);
  };
  FunctionDef function;
  HPU_RETURN_IF_ERROR(tensorflow::GraphToFunctionDef(graph, name, control_result, &function));
  function.mutable_signature()->set_is_stateful(original.signature().is_stateful());
  *function.mutable_attr() = original.attr();
  *function.mutable_arg_attr() = original.arg_attr();
  *function.mutable_resource_arg_unique_id() = original.resource_arg_unique_id();
  return function;
}

absl::Status FunctionRewriter::Run(const NodeFilter& filter) {
  return RewriteGraph(context_->graph->get(), filter, "").status();
}

absl::StatusOr<bool> FunctionRewriter::RewriteGraph(Graph* graph, const NodeFilter& filter, const std::string& prefix) {
  bool changed = false;
  for (Node* node : graph->op_nodes()) {
    if (!filter(*node)) continue;
    HPU_ASSIGN_OR_RETURN(const bool callees_changed, RewriteCallees(node));
    changed |= callees_changed;
  }
  HPU_ASSIGN_OR_RETURN(const bool graph_changed, rewrite_(graph, filter, prefix));
  return changed || graph_changed;
}

absl::StatusOr<bool> FunctionRewriter::RewriteCallees(Node* node) {
  if (!IsFunctionalControlFlow(*node) && !node->IsPartitionedCall()) return false;
  const std::map<std::string, AttrValue> attrs(node->def().attr().begin(), node->def().attr().end());
  bool changed = false;
  for (const auto& [name, value] : attrs) {
    AttrValue rewritten = value;
    bool differs = false;
    const auto rewrite = [&](tensorflow::NameAttrList* function) -> absl::Status {
      HPU_ASSIGN_OR_RETURN(const std::string now, RewriteFunction(function->name()));
      differs |= now != function->name();
      function->set_name(now);
      return absl::OkStatus();
    };
    if (value.has_func()) HPU_RETURN_IF_ERROR(rewrite(rewritten.mutable_func()));
    for (int i = 0; i < value.list().func_size(); ++i) {
      HPU_RETURN_IF_ERROR(rewrite(rewritten.mutable_list()->mutable_func(i)));
    }
    if (differs) node->AddAttr(name, rewritten);
    changed |= differs;
  }
  return changed;
}

absl::StatusOr<std::string> FunctionRewriter::RewriteFunction(const std::string& name) {
  if (const auto found = done_.find(name); found != done_.end()) return found->second;
  done_[name] = name;  // ends the recursion for recursive functions
  const FunctionDef* found = context_->library->Find(name);
  if (found == nullptr || found->signature().attr_size() > 0) return name;
  const FunctionDef original = *found;
  HPU_ASSIGN_OR_RETURN(const std::unique_ptr<tensorflow::FunctionBody> body,
                       MakeFunctionBody(original, *context_->library));
  // Nodes in a function have no assigned device yet.
  const auto filter = [](const Node& node) { return !IsPinnedToOtherDevice(node); };
  HPU_ASSIGN_OR_RETURN(const bool changed, RewriteGraph(body->graph, filter, absl::StrCat(name, "/")));
  if (!changed) return name;
  const std::string now = context_->library->UniqueFunctionName(absl::StrCat(name, suffix_));
  HPU_ASSIGN_OR_RETURN(const FunctionDef function, FunctionLike(original, *body->graph, now));
  HPU_RETURN_IF_ERROR(context_->library->AddFunctionDef(function));
  done_[name] = now;
  return now;
}

}  // namespace hpu::passes
