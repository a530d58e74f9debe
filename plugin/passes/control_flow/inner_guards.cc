#include "plugin/passes/control_flow/inner_guards.h"

#include <map>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/analysis/variable_updates.h"
#include "plugin/passes/clustering/cluster_ancestors.h"
#include "plugin/passes/clustering/variable_guards.h"
#include "plugin/passes/functions/extended_nodes.h"
#include "plugin/passes/functions/functional_control_flow.h"
#include "plugin/passes/functions/loop_functions.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/node_maker.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/graph/algorithm.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::FunctionBody;
using tensorflow::FunctionLibraryDefinition;
using tensorflow::Graph;
using tensorflow::Node;
using tensorflow::NodeBuilder;
using tensorflow::OutputTensor;

constexpr char kGuardInputAttr[] = "_habana_guard_input";  // int: the number of the input

NodeFlags Descendants(const Graph& graph, const Node& node) {
  NodeFlags seen(graph.num_node_ids());
  std::vector<const Node*> open = {&node};
  while (!open.empty()) {
    const Node* const current = open.back();
    open.pop_back();
    for (const Edge* edge : current->out_edges()) {
      if (edge->dst()->IsOp() && seen.Insert(edge->dst())) open.push_back(edge->dst());
    }
  }
  return seen;
}

class FunctionGuards {
 public:
  FunctionGuards(Graph* graph, Node* enabled, const std::vector<InnerTest>& tests, FunctionLibraryDefinition* library)
      : graph_(graph), enabled_(enabled), tests_(tests), library_(library), guards_(graph, [](Node*) {}) {}

  absl::Status Run() {
    for (Node* update : Updates()) HPU_RETURN_IF_ERROR(Guard(update));
    return absl::OkStatus();
  }

 private:
  // In an order in which the function may run them.
  std::vector<Node*> Updates() const {
    std::vector<Node*> updates;
    tensorflow::GetReversePostOrder(*graph_, &updates, tensorflow::NodeComparatorName());
    updates.erase(std::remove_if(updates.begin(), updates.end(), [&](Node* node) { return !MayUpdate(*node); }),
                  updates.end());
    return updates;
  }

  bool MayUpdate(const Node& node) const {
    if (!node.IsOp() || !UpdatesVariable(node)) return false;
    const auto updates = [&](const auto& function) { return UpdatesVariables(function, *library_); };
    if (node.IsPartitionedCall()) {
      const absl::StatusOr<tensorflow::NameAttrList> function = CalledFunction(node.def());
      return !function.ok() || updates(*function);
    }
    return !IsFunctionalControlFlow(node) || absl::c_any_of(FunctionsOf(node), updates);
  }

  absl::Status Guard(Node* update) {
    HPU_ASSIGN_OR_RETURN(Node * passes, PassesBefore(*update));
    if (passes == nullptr) {
      guards_.Skip(update, /*guarded=*/false);
      return absl::OkStatus();
    }
    if (!IsFunctionalControlFlow(*update)) return guards_.Guard(update, passes);
    HPU_ASSIGN_OR_RETURN(Node * guarded, GuardInside(update, passes));
    guards_.Skip(guarded, /*guarded=*/true);
    return absl::OkStatus();
  }

  // The conjunction of `enabled_` and the tests that guard an update; null if there are none.
  absl::StatusOr<Node*> PassesBefore(const Node& update) {
    const NodeFlags later = Descendants(*graph_, update);
    std::vector<int> guarding;
    for (size_t i = 0; i < tests_.size(); ++i) {
      const InnerTest& test = tests_[i];
      if (!later.Contains(test.passes) && !later.Contains(test.checked)) guarding.push_back(static_cast<int>(i));
    }
    const auto [found, is_new] = passes_.try_emplace(guarding, enabled_);
    if (!is_new) return found->second;
    Node*& all = found->second;
    const NodeMaker maker(graph_, "habana_guard", "");
    for (const int i : guarding) {
      if (all == nullptr) {
        all = tests_[i].passes;
      } else {
        HPU_ASSIGN_OR_RETURN(all, maker.Binary("passes", "LogicalAnd", all, tests_[i].passes));
      }
    }
    return all;
  }

  // Makes the updates inside a loop or branch depend on `passes`. Returns the node, which may be a new one.
  absl::StatusOr<Node*> GuardInside(Node* node, Node* passes) {
    int input = -1;
    if (tensorflow::TryGetNodeAttr(node->attrs(), kGuardInputAttr, &input)) {
      // Not UpdateEdge, because the input is not in the node's NodeDef.
      const Edge* edge = nullptr;
      HPU_RETURN_IF_ERROR(node->input_edge(input, &edge));
      graph_->RemoveEdge(edge);
      graph_->AddEdge(passes, 0, node, input);
      return node;
    }
    return node->IsWhileNode() ? GuardLoop(node, passes) : GuardBranches(node, passes);
  }

  absl::StatusOr<Node*> GuardLoop(Node* loop, Node* passes) {
    HPU_ASSIGN_OR_RETURN(const std::unique_ptr<FunctionBody> body, LoopFunction(*loop, "body", *library_));
    HPU_ASSIGN_OR_RETURN(const std::unique_ptr<FunctionBody> condition, LoopFunction(*loop, "cond", *library_));
    const int index = loop->num_inputs();
    HPU_ASSIGN_OR_RETURN(Node * enabled, AddArgument(body->graph, index, tensorflow::DT_BOOL));
    HPU_ASSIGN_OR_RETURN(Node * in_condition, AddArgument(condition->graph, index, tensorflow::DT_BOOL));
    HPU_RETURN_IF_ERROR(AddResult(body->graph, index, enabled));
    HPU_RETURN_IF_ERROR(GuardInnerUpdates(body->graph, enabled, {}, library_));
    // Without its updates, the loop might never end.
    if (condition->ret_types[0] == tensorflow::DT_BOOL) HPU_RETURN_IF_ERROR(EndIfFalse(condition.get(), in_condition));
    HPU_RETURN_IF_ERROR(SetFunction(loop, "body", *body, "_guarded", library_));
    HPU_RETURN_IF_ERROR(SetFunction(loop, "cond", *condition, "_guarded", library_));
    HPU_ASSIGN_OR_RETURN(Node * guarded, Extend(graph_, loop, {passes}, {{tensorflow::DT_BOOL, {}}}));
    SetGuardInput(guarded, index);
    return guarded;
  }

  absl::StatusOr<Node*> GuardBranches(Node* branch, Node* passes) {
    const std::vector<tensorflow::NameAttrList> names = FunctionsOf(*branch);
    HPU_ASSIGN_OR_RETURN(const auto functions, BranchFunctions(*branch, *library_));
    for (size_t i = 0; i < functions.size(); ++i) {
      Graph* const function = functions[i]->graph;
      HPU_ASSIGN_OR_RETURN(Node * enabled, AddArgument(function, branch->num_inputs() - 1, tensorflow::DT_BOOL));
      if (UpdatesVariables(names[i], *library_))
        HPU_RETURN_IF_ERROR(GuardInnerUpdates(function, enabled, {}, library_));
    }
    HPU_RETURN_IF_ERROR(SetBranches(branch, functions, "_guarded", library_));
    HPU_ASSIGN_OR_RETURN(Node * guarded, Extend(graph_, branch, {passes}, {}));
    SetGuardInput(guarded, guarded->num_inputs() - 1);
    return guarded;
  }

  Graph* const graph_;
  Node* const enabled_;
  const std::vector<InnerTest>& tests_;
  FunctionLibraryDefinition* const library_;
  VariableGuards guards_;
  std::map<std::vector<int>, Node*> passes_;  // by positions in tests_
};

}  // namespace

absl::Status GuardInnerUpdates(Graph* function, Node* enabled, const std::vector<InnerTest>& tests,
                               FunctionLibraryDefinition* library) {
  return FunctionGuards(function, enabled, tests, library).Run();
}

void SetGuardInput(Node* node, int input) {
  node->ClearAttr(kGuardInputAttr);
  node->AddAttr(kGuardInputAttr, input);
}

absl::Status EndIfFalse(FunctionBody* condition, Node* flag) {
  Node* const result = condition->ret_nodes[0];
  const OutputTensor old = InputOf(*result, 0);
  NodeBuilder builder(condition->graph->NewName("habana_continue"), "LogicalAnd");
  Node* both = nullptr;
  HPU_RETURN_IF_ERROR(builder.Input(old.node, old.index).Input(flag, 0).Finalize(condition->graph, &both));
  return condition->graph->UpdateEdge(both, 0, result, 0);
}

absl::StatusOr<Node*> AfterEffects(Graph* function) {
  std::vector<Node*> effects;
  for (Node* node : function->op_nodes()) {
    if (node->op_def().is_stateful() && !node->IsArg() && !node->IsRetval() &&
        !FactsOf(node->type_string()).only_reads) {
      effects.push_back(node);
    }
  }
  if (effects.empty()) return nullptr;
  NodeBuilder builder(function->NewName("habana_check/effects"), "NoOp");
  Node* after = nullptr;
  HPU_RETURN_IF_ERROR(builder.ControlInputs(effects).Finalize(function, &after));
  return after;
}

}  // namespace hpu::passes
