#include "plugin/passes/analysis/clustering_rules.h"

#include <string_view>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/graph/graph_util.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::Node;

constexpr char kJitScopeAttr[] = "_XlaCompile";
constexpr char kJitScopeNameAttr[] = "_XlaScope";

// Whether a name in TF_DONT_CLUSTER equals the node's full name, or the part of the full name after the last slash.
bool IsNamed(std::string_view node, std::string_view name) {
  if (node == name) return true;
  const size_t scope = node.rfind('/');
  return scope != std::string_view::npos && node.substr(scope + 1) == name;
}

OpRefusal RefuseOff(const Settings& settings) {
  return {Rule::kUserSetting, absl::StrCat("clustering is off: ", settings.clustering_source)};
}

}  // namespace

std::optional<bool> JitScope(const Node& node) {
  bool compile = false;
  if (!tensorflow::TryGetNodeAttr(node.attrs(), kJitScopeAttr, &compile)) return std::nullopt;
  return compile;
}

std::string JitScopeName(const Node& node) {
  std::string name;
  tensorflow::TryGetNodeAttr(node.attrs(), kJitScopeNameAttr, &name);
  return name;
}

void SetJitScope(Node* node, bool compile, const std::string& name) {
  node->AddAttr(kJitScopeAttr, compile);
  if (!name.empty()) node->AddAttr(kJitScopeNameAttr, name);
}

std::optional<OpRefusal> RefuseInsideBySettings(const Node& node, const Settings& settings) {
  for (const std::string& name : settings.dont_cluster) {
    if (IsNamed(node.name(), name)) return OpRefusal{Rule::kUserSetting, absl::StrCat("TF_DONT_CLUSTER lists ", name)};
  }
  if (JitScope(node) == false) return OpRefusal{Rule::kJitScope, "is inside jit_scope(False)"};
  if (settings.clustering == Clustering::kLite && !FactsOf(node.type_string()).fusible) {
    return OpRefusal{Rule::kLite, absl::StrCat("HPU_CLUSTERING=lite: XLA does not fuse ", node.type_string())};
  }
  return std::nullopt;
}

std::optional<OpRefusal> RefuseBySettings(const Node& node, const Settings& settings) {
  if (auto refusal = RefuseInsideBySettings(node, settings)) return refusal;
  if (settings.clustering == Clustering::kOff) return RefuseOff(settings);
  if (settings.clustering == Clustering::kScopes && !JitScope(node).value_or(false)) return RefuseOff(settings);
  if (!settings.cluster_variables && absl::c_linear_search(node.input_types(), tensorflow::DT_RESOURCE)) {
    return OpRefusal{Rule::kUserSetting, "reads or updates a variable, and TF_CLUSTER_VARIABLES=0"};
  }
  return std::nullopt;
}

bool AllowsClusters(const PassContext& context) {
  const Clustering clustering = context.settings.clustering;
  if (clustering == Clustering::kOn || clustering == Clustering::kLite) return true;
  return clustering == Clustering::kScopes &&
         absl::c_any_of((**context.graph).op_nodes(), [](const Node* node) { return JitScope(*node).value_or(false); });
}

void RecordClusteringOff(PassContext* context) {
  const OpRefusal refusal = RefuseOff(context->settings);
  for (const Node* node : (**context->graph).op_nodes()) {
    context->report.set_nodes(context->report.nodes() + 1);
    if (!IsOnHpu(*node)) continue;
    context->report.set_hpu_nodes(context->report.hpu_nodes() + 1);
    AddRefusal(&context->report, node->name(), node->type_string(), refusal.rule, refusal.reason);
  }
}

}  // namespace hpu::passes
