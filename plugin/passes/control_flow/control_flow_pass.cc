#include "plugin/passes/control_flow/control_flow_pass.h"

#include <map>
#include <numeric>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/graph_rewrites.h"
#include "plugin/passes/analysis/cluster_fuel.h"
#include "plugin/passes/analysis/clustering_rules.h"
#include "plugin/passes/analysis/constant_origin.h"
#include "plugin/passes/analysis/effect_rules.h"
#include "plugin/passes/analysis/handle_device.h"
#include "plugin/passes/analysis/placement_policy.h"
#include "plugin/passes/clustering/marking_pass.h"
#include "plugin/passes/control_flow/case_index.h"
#include "plugin/passes/control_flow/inner_check_pass.h"
#include "plugin/passes/functions/extended_nodes.h"
#include "plugin/passes/functions/functional_control_flow.h"
#include "plugin/passes/graph/graph_names.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/precision/narrowing_pass.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::FunctionDef;
using tensorflow::FunctionLibraryDefinition;
using tensorflow::Graph;
using tensorflow::Node;
using tensorflow::NodeDef;

constexpr char kHiddenAttr[] = "_habana_lower";
const char* const kLowerAttr = tensorflow::LowerFunctionalOpsPass::kLowerUsingSwitchMergeAttr;

// Renames an attribute if its value is true. Returns whether the attribute was renamed.
bool RenameAttr(NodeDef* node, const char* from, const char* to) {
  const auto found = node->attr().find(from);
  if (found == node->attr().end() || !found->second.b()) return false;
  (*node->mutable_attr())[to].set_b(true);
  node->mutable_attr()->erase(from);
  return true;
}

absl::Status RenameInFunctions(FunctionLibraryDefinition* library, const char* from, const char* to) {
  for (const std::string& name : library->ListFunctionNames()) {
    const FunctionDef* function = library->Find(name);
    const bool has = std::any_of(function->node_def().begin(), function->node_def().end(), [&](const NodeDef& node) {
      const auto found = node.attr().find(from);
      return found != node.attr().end() && found->second.b();
    });
    if (!has) continue;
    FunctionDef renamed = *function;
    for (NodeDef& node : *renamed.mutable_node_def()) RenameAttr(&node, from, to);
    HPU_RETURN_IF_ERROR(library->ReplaceFunction(name, renamed));
  }
  return absl::OkStatus();
}

bool IsHidden(const Node& node) {
  bool hidden = false;
  return tensorflow::TryGetNodeAttr(node.attrs(), kHiddenAttr, &hidden) && hidden;
}

// Decides which hidden nodes of a graph stay functional. Nodes that share a TensorList stay functional or are lowered
// together.
class Chooser {
 public:
  Chooser(PassContext* context, const tensorflow::GraphOptimizationPassOptions& options)
      : context_(context),
        options_(options),
        graph_(**context->graph),
        rules_(context),
        parent_(graph_.num_node_ids()) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }

  std::vector<Node*> ToLower();

 private:
  int Find(int id) {
    while (parent_[id] != id) id = parent_[id] = parent_[parent_[id]];
    return id;
  }
  std::optional<OpRefusal> Refuse(const Node& node);
  bool IsUnconditional(const Node& node) const;

  PassContext* const context_;
  const tensorflow::GraphOptimizationPassOptions& options_;
  const Graph& graph_;
  CandidateRules rules_;
  std::vector<int> parent_;
};

std::optional<OpRefusal> Chooser::Refuse(const Node& node) {
  if (IsPinnedToOtherDevice(node))
    return OpRefusal{Rule::kPinned, absl::StrCat("is pinned to ", node.requested_device())};
  if (HasHandleOfOtherDevice(node)) return OpRefusal{Rule::kResourceHandle, "uses a resource on another device"};
  if (!HasFuel(context_->settings)) return OpRefusal{Rule::kFuel, "HPU_CLUSTER_FUEL is used up"};
  if (auto refusal = RefuseUnusedEffects(node, IsUnconditional(node), context_->Runtime())) return refusal;
  return rules_.Refuse(node);
}

// Whether the enclosing function runs the node even if its results are unused.
bool Chooser::IsUnconditional(const Node& node) const {
  if (!options_.is_function_graph) return false;
  if (HasControlUsers(node)) return true;
  return options_.function_def != nullptr &&
         absl::c_any_of(options_.function_def->control_ret(),
                        [&](const auto& result) { return result.second == node.name(); });
}

std::vector<Node*> Chooser::ToLower() {
  absl::flat_hash_set<const Node*> sharing;
  for (const Edge* edge : graph_.edges()) {
    if (edge->IsControlEdge() || edge->src()->output_type(edge->src_output()) != tensorflow::DT_VARIANT) continue;
    parent_[Find(edge->src()->id())] = Find(edge->dst()->id());
    sharing.insert(edge->src());
    sharing.insert(edge->dst());
  }
  absl::flat_hash_set<int> with_hidden;
  for (const Node* node : graph_.op_nodes()) {
    if (IsHidden(*node)) with_hidden.insert(Find(node->id()));
  }
  absl::flat_hash_map<int, OpRefusal> refused;  // refusals by group
  for (const Node* node : graph_.op_nodes()) {
    const int group = Find(node->id());
    if (!with_hidden.contains(group) || (!IsHidden(*node) && !sharing.contains(node))) continue;
    if (refused.contains(group)) continue;
    if (auto refusal = Refuse(*node)) {
      if (!IsHidden(*node))
        refusal->reason =
            absl::StrCat("shares a TensorList with ", node->name(), ", which stays outside clusters by rule ",
                         NameOf(refusal->rule), ": ", refusal->reason);
      refused.emplace(group, *std::move(refusal));
    }
  }
  std::vector<Node*> lower;
  for (Node* node : graph_.op_nodes()) {
    if (!IsHidden(*node)) continue;
    const auto found = refused.find(Find(node->id()));
    if (found == refused.end()) continue;
    AddRefusal(&context_->report, node->name(), node->type_string(), Rule::kLowered, found->second.reason);
    lower.push_back(node);
  }
  return lower;
}

}  // namespace

absl::Status HideControlFlow(Graph* graph, FunctionLibraryDefinition* library) {
  HPU_RETURN_IF_ERROR(HideCaseIndices(graph, library, kLowerAttr));
  for (Node* node : graph->op_nodes()) {
    bool lower = false;
    if (!tensorflow::TryGetNodeAttr(node->attrs(), kLowerAttr, &lower) || !lower) continue;
    node->ClearAttr(kLowerAttr);
    node->AddAttr(kHiddenAttr, true);
  }
  return RenameInFunctions(library, kLowerAttr, kHiddenAttr);
}

namespace {

// The names of the nodes that the graph's function runs even if their outputs are unused.
absl::flat_hash_set<std::string> ControlResults(const tensorflow::GraphOptimizationPassOptions& options) {
  absl::flat_hash_set<std::string> names;
  if (options.function_def == nullptr) return names;
  for (const auto& [result, node] : options.function_def->control_ret()) names.insert(node);
  return names;
}

// Moves the checks of loops and branches behind these. Skips nodes that no cluster will hold, because their
// compile-time constants depend on data (marking_pass.h): their ops run one by one, and the ops' kernels raise the
// errors.
absl::Status AddInnerChecks(PassContext* context, const tensorflow::GraphOptimizationPassOptions& options) {
  std::optional<std::vector<Origin>> origins;
  const auto may_be_whole = [&](const Node& node) {
    if (!origins.has_value()) origins = FindOrigins(**context->graph);
    const absl::StatusOr<Origin> origin = OriginOfConstants(node, *origins, context->Runtime());
    return origin.ok() && *origin < Origin::kLoop;
  };
  return MoveChecksOut(context->graph->get(), may_be_whole, ControlResults(options), context->library);
}

// Lowers nodes of one jit_scope, and puts the new nodes into the same scope.
absl::Status Lower(const std::vector<Node*>& nodes, const tensorflow::GraphOptimizationPassOptions& options) {
  const std::optional<bool> scope = JitScope(*nodes.front());
  const std::string scope_name = JitScopeName(*nodes.front());
  for (Node* node : nodes) {
    node->ClearAttr(kHiddenAttr);
    node->AddAttr(kLowerAttr, true);
  }
  const int first_new = (*options.graph)->num_node_ids();
  HPU_RETURN_IF_ERROR(tensorflow::LowerFunctionalOpsPass().Run(options));
  if (!scope.has_value()) return absl::OkStatus();
  for (Node* node : (*options.graph)->op_nodes()) {
    if (node->id() >= first_new && !JitScope(*node).has_value()) SetJitScope(node, *scope, scope_name);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status LowerRemainingControlFlow(PassContext* context, const tensorflow::GraphOptimizationPassOptions& options) {
  Graph* const graph = context->graph->get();
  while (true) {
    // A Session extends its graph later, without the functions that a pass has added.
    if (options.is_function_graph && context->settings.clustering != Clustering::kOff)
      HPU_RETURN_IF_ERROR(AddInnerChecks(context, options));
    std::vector<Node*> lower = Chooser(context, options).ToLower();
    if (lower.empty()) break;
    // Kernels and the checks of lowered graphs raise the errors of lowered nodes.
    for (Node*& node : lower) {
      HPU_ASSIGN_OR_RETURN(node, RestoreOriginal(graph, node));
    }
    std::map<std::pair<int, std::string>, std::vector<Node*>> by_scope;
    for (Node* node : lower) {
      const std::optional<bool> scope = JitScope(*node);
      by_scope[{scope.has_value() ? *scope : -1, JitScopeName(*node)}].push_back(node);
    }
    // Loops and branches in the lowered functions are still hidden. The next iteration decides whether to lower them.
    for (const auto& [scope, nodes] : by_scope) HPU_RETURN_IF_ERROR(Lower(nodes, options));
  }
  ForgetOriginals(graph);
  for (Node* node : graph->op_nodes()) {
    if (IsHidden(*node)) node->AddAttr(kScalarConditionAttr, true);
    node->ClearAttr(kHiddenAttr);
  }
  return RenameInFunctions(context->library, kHiddenAttr, kLowerAttr);
}

tensorflow::Status RunHidePass(const tensorflow::GraphOptimizationPassOptions& options) {
  if (!MayUseHpu(options) || Settings::FromEnvironment(options.session_options).clustering == Clustering::kOff) {
    return tensorflow::OkStatus();
  }
  return HideControlFlow(options.graph->get(), options.flib_def);
}

tensorflow::Status RunLowerPass(const tensorflow::GraphOptimizationPassOptions& options) {
  if (!MayUseHpu(options)) return tensorflow::OkStatus();
  PassContext context(options.graph, options.flib_def, GraphName(FunctionName(options)),
                      Settings::FromEnvironment(options.session_options));
  context.report.set_function(FunctionName(options));
  const OpListData& list = PlacementPolicy::Active().list();
  if (!list.accepts_all) {
    HPU_RETURN_IF_ERROR(NarrowLoopBodies(
        &context, list, [](const Node& node) { return IsHidden(node) && !IsPinnedToOtherDevice(node); }));
  }
  const tensorflow::Status status = LowerRemainingControlFlow(&context, options);
  if (context.report.refusals_size() > 0 || context.report.rewrites_size() > 0) KeepReport(context.report);
  return status;
}

}  // namespace hpu::passes
