#include "plugin/passes/clustering/update_guard_pass.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/analysis/variable_updates.h"
#include "plugin/passes/clustering/check_tests.h"
#include "plugin/passes/clustering/check_waits.h"
#include "plugin/passes/clustering/cluster_ancestors.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/node_maker.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tsl/platform/statusor.h"

namespace hpu::passes {
namespace {

using tensorflow::DataType;
using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;
using tensorflow::NodeBuilder;
using tensorflow::OutputTensor;
using tensorflow::Tensor;

using Handle = std::pair<const Node*, int>;  // the tensor that holds a variable's handle

Handle HandleOf(const Node& node, int input) {
  OutputTensor handle = InputOf(node, input);
  while (handle.node->IsIdentity()) handle = InputOf(*handle.node, 0);
  return {handle.node, handle.index};
}

// Whether an op changes a few elements of its variables, at indices that IndexedOpOf describes. The op's lowering drops
// indices out of range.
bool Scatters(const Node& node) {
  const std::string& op = node.type_string();
  return (absl::StartsWith(op, "ResourceScatter") || absl::StartsWith(op, "ResourceSparseApply")) &&
         IndexedOpOf(op) != nullptr;
}

// Position of each node in an order of the cluster that runs updates as late as possible. Edges from lower to higher
// positions create no cycle.
class LateOrder {
 public:
  explicit LateOrder(const std::vector<Node*>& nodes) {
    for (const Node* node : nodes) positions_.emplace(node, 0);
    absl::flat_hash_map<const Node*, int> waits;
    std::vector<Node*> ready, updates;  // nodes whose inputs are in the order
    const auto add = [&](Node* node) { (UpdatesVariable(*node) ? updates : ready).push_back(node); };
    for (Node* node : nodes) {
      int& count = waits[node];
      for (const Edge* edge : node->in_edges()) count += Contains(edge->src()) ? 1 : 0;
      if (count == 0) add(node);
    }
    size_t next_update = 0;
    while (!ready.empty() || next_update < updates.size()) {
      Node* const node = ready.empty() ? updates[next_update++] : ready.back();
      if (!ready.empty()) ready.pop_back();
      positions_[node] = next_++;
      for (const Edge* edge : OutEdges(*node)) {
        if (Contains(edge->dst()) && --waits[edge->dst()] == 0) add(edge->dst());
      }
    }
    updates_ = std::move(updates);
  }

  bool Contains(const Node* node) const { return positions_.contains(node); }
  // -1 for nodes outside the cluster.
  int PositionOf(const Node* node) const {
    const auto found = positions_.find(node);
    return found == positions_.end() ? -1 : found->second;
  }
  // In order of their positions.
  const std::vector<Node*>& updates() const { return updates_; }

 private:
  absl::flat_hash_map<const Node*, int> positions_;
  std::vector<Node*> updates_;
  int next_ = 0;
};

// The nodes in the cluster that precede `node`.
NodeFlags AncestorsInCluster(const Node& node, const LateOrder& order, int nodes) {
  NodeFlags seen(nodes);
  std::vector<const Node*> open = {&node};
  while (!open.empty()) {
    const Node* const current = open.back();
    open.pop_back();
    for (const Edge* edge : current->in_edges()) {
      if (order.Contains(edge->src()) && seen.Insert(edge->src())) open.push_back(edge->src());
    }
  }
  return seen;
}

// Guards of the updates in one cluster.
class ClusterGuards {
 public:
  ClusterGuards(PassContext* context, const std::string& cluster, const ClusterMembers& members,
                CheckSequence* sequence)
      : context_(context),
        cluster_(cluster),
        members_(members),
        sequence_(sequence),
        order_(members.MembersOf(cluster)) {}

  bool HasUpdates() const { return !order_.updates().empty(); }
  // Adds a check of ops in the cluster.
  void Add(const LateCheck& check);
  absl::Status Guard();

 private:
  // A check of ops in the cluster.
  struct Check {
    Node* check = nullptr;
    Node* checked = nullptr;  // op in the cluster whose values are checked
    NodeFlags before{0};      // updates among these happen even if the check fails
    int position = -1;        // last position of the test's inputs in order_
    Node* passes = nullptr;   // the test in the cluster; null until it is needed
  };
  // The last node that updates a variable, so far.
  struct Update {
    Node* node = nullptr;
    bool all_guarded = true;  // this and earlier updates are guarded
  };

  std::vector<int> ChecksOf(const Node* update) const;
  absl::StatusOr<Node*> TestOf(Check* check);
  absl::StatusOr<Node*> PassesAll(const std::vector<int>& checks);
  absl::Status GuardIndices(Node* update, Node* passes);
  absl::Status GuardVariables(Node* update, Node* passes);
  absl::StatusOr<Node*> Revert(Node* update, int input, Node* passes);
  std::optional<DataType> TypeOf(const Node& update, const Handle& handle) const;
  void OrderChecks(const Node* update, const std::vector<int>& checks);
  NodeMaker Maker(const Node& node) const {
    return NodeMaker(context_->graph->get(), absl::StrCat(node.name(), "/habana_guard"), node.assigned_device_name());
  }
  absl::StatusOr<Node*> Place(absl::StatusOr<Node*> node) const {
    if (node.ok()) (*node)->AddAttr(kClusterAttr, cluster_);
    return node;
  }

  PassContext* const context_;
  const std::string cluster_;
  const ClusterMembers& members_;
  CheckSequence* const sequence_;
  const LateOrder order_;
  std::vector<Check> checks_;
  std::map<std::vector<int>, Node*> passes_;  // by positions in checks_
  std::map<Handle, Update> updates_;
};

void ClusterGuards::Add(const LateCheck& late) {
  Check check;
  check.check = late.check;
  const int nodes = (*context_->graph)->num_node_ids();
  for (Node* node : late.checked) {
    if (!order_.Contains(node)) continue;
    NodeFlags ancestors = AncestorsInCluster(*node, order_, nodes);
    if (check.checked == nullptr) {
      check.checked = node;
      check.before = std::move(ancestors);
    } else {
      check.before.Intersect(ancestors);
    }
  }
  const bool is_test = check.check->type_string() == kCheckValuesOp;
  for (const Node* input : InputsOfTest(*check.check, *check.checked)) {
    // The cluster must not wait for a test that waits for the cluster.
    if (is_test && !order_.Contains(input) && members_.AncestorsOf(*input).Contains(check.checked)) return;
    check.position = std::max(check.position, order_.PositionOf(input));
  }
  checks_.push_back(std::move(check));
}

// Positions in checks_ of the checks that guard an update.
std::vector<int> ClusterGuards::ChecksOf(const Node* update) const {
  std::vector<int> checks;
  for (size_t i = 0; i < checks_.size(); ++i) {
    const Check& check = checks_[i];
    if (check.position < order_.PositionOf(update) && !check.before.Contains(update)) checks.push_back(i);
  }
  return checks;
}

absl::StatusOr<Node*> ClusterGuards::TestOf(Check* check) {
  if (check->passes == nullptr) {
    TF_ASSIGN_OR_RETURN(check->passes, MakeTest(*check->check, *check->checked, cluster_, context_->graph->get()));
  }
  return check->passes;
}

absl::StatusOr<Node*> ClusterGuards::PassesAll(const std::vector<int>& checks) {
  Node*& all = passes_[checks];
  if (all != nullptr) return all;
  Node* passes = nullptr;
  for (const int i : checks) {
    TF_ASSIGN_OR_RETURN(Node * test, TestOf(&checks_[i]));
    if (passes == nullptr) {
      passes = test;
    } else {
      TF_ASSIGN_OR_RETURN(passes, Place(Maker(*checks_[i].checked).Binary("all", "LogicalAnd", passes, test)));
    }
  }
  return all = passes;
}

absl::Status ClusterGuards::GuardIndices(Node* update, Node* passes) {
  Graph* graph = context_->graph->get();
  const int input = IndexedOpOf(update->type_string())->indices;
  const OutputTensor indices = InputOf(*update, input);
  const DataType type = indices.node->output_type(indices.index);
  Tensor invalid(type, {}), largest(type, {});
  if (type == tensorflow::DT_INT32) {
    invalid.scalar<int32_t>()() = -1;
    largest.scalar<int32_t>()() = std::numeric_limits<int32_t>::max();
  } else {
    invalid.scalar<int64_t>()() = -1;
    largest.scalar<int64_t>()() = std::numeric_limits<int64_t>::max();
  }
  NodeMaker maker = Maker(*update);
  maker.set_anchor(indices.node);
  TF_ASSIGN_OR_RETURN(Node * none, Place(maker.Constant("none", invalid)));
  TF_ASSIGN_OR_RETURN(Node * all, Place(maker.Constant("all", largest)));
  // The minimum with a scalar, because a select by a scalar would broadcast to the bounds of dynamic sizes.
  NodeBuilder select = maker.New("limit", "SelectV2");
  select.Input(passes).Input(all).Input(none);
  TF_ASSIGN_OR_RETURN(Node * limit, Place(maker.Add(select)));
  NodeBuilder minimum = maker.New("indices", "Minimum");
  minimum.Input(indices.node, indices.index).Input(limit);
  TF_ASSIGN_OR_RETURN(Node * guarded, Place(maker.Add(minimum)));
  return graph->UpdateEdge(guarded, 0, update, input);
}

// The type of a variable, according to `update` or another op that uses the handle.
std::optional<DataType> ClusterGuards::TypeOf(const Node& update, const Handle& handle) const {
  const auto has_type = [](const Node& node) {
    const std::string& op = node.type_string();
    return absl::StartsWith(op, "Assign") || absl::StartsWith(op, "Resource") || op == "ReadVariableOp";
  };
  const auto type_of = [](const Node& node) -> std::optional<DataType> {
    DataType type;
    for (const char* attribute : {"dtype", "T"}) {
      if (tensorflow::TryGetNodeAttr(node.attrs(), attribute, &type)) return type;
    }
    return std::nullopt;
  };
  if (has_type(update)) return type_of(update);
  for (const Edge* edge : OutEdges(*handle.first)) {
    if (edge->src_output() != handle.second || !has_type(*edge->dst())) continue;
    if (const std::optional<DataType> type = type_of(*edge->dst()); type.has_value()) return type;
  }
  return std::nullopt;
}

// Adds a HabanaRevertUpdate for one variable of an update. Null if the old value cannot be kept.
absl::StatusOr<Node*> ClusterGuards::Revert(Node* update, int input, Node* passes) {
  Graph* graph = context_->graph->get();
  const NodeMaker maker = Maker(*update);
  const OutputTensor handle = InputOf(*update, input);
  std::vector<NodeBuilder::NodeOut> old;
  const auto previous = updates_.find(HandleOf(*update, input));
  const std::optional<DataType> type = TypeOf(*update, HandleOf(*update, input));
  if (previous != updates_.end() && type.has_value()) {
    NodeBuilder read = maker.New("old", "ReadVariableOp");
    read.Input(handle.node, handle.index).Attr("dtype", *type).ControlInput(previous->second.node);
    TF_ASSIGN_OR_RETURN(Node * value, Place(maker.Add(read)));
    graph->AddControlEdge(value, update);
    old.emplace_back(value, 0);
  } else if (previous != updates_.end() && !previous->second.all_guarded) {
    return nullptr;
  }
  NodeBuilder builder = maker.New("revert", kRevertUpdateOp);
  builder.Input(handle.node, handle.index).Input(passes).Input(old);
  builder.Attr("N", static_cast<int>(old.size())).Attr("T", type.value_or(tensorflow::DT_FLOAT));
  return Place(maker.Add(builder.ControlInput(update)));
}

absl::Status ClusterGuards::GuardVariables(Node* update, Node* passes) {
  Graph* graph = context_->graph->get();
  std::vector<const Edge*> users;
  for (const Edge* edge : OutEdges(*update)) {
    if (edge->IsControlEdge() && edge->dst()->IsOp()) users.push_back(edge);
  }
  std::vector<Node*> reverts;
  for (int i = 0; i < update->num_inputs(); ++i) {
    if (update->input_type(i) != tensorflow::DT_RESOURCE) continue;
    TF_ASSIGN_OR_RETURN(Node * revert, Revert(update, i, passes));
    Update& last = updates_[HandleOf(*update, i)];
    last.all_guarded = last.all_guarded && revert != nullptr;
    last.node = revert == nullptr ? update : revert;
    if (revert != nullptr) reverts.push_back(revert);
  }
  for (const Edge* edge : users) {
    for (Node* revert : reverts) graph->AddControlEdge(revert, edge->dst());
  }
  return absl::OkStatus();
}

// A guarded update that precedes the op of another check may change that op's values if the first check fails. The
// other check then waits for the first, so that the step fails with the first error.
void ClusterGuards::OrderChecks(const Node* update, const std::vector<int>& checks) {
  for (const Check& later : checks_) {
    if (!later.before.Contains(update)) continue;
    for (const int i : checks) {
      if (checks_[i].position < later.position) sequence_->Add(checks_[i].check, later.check);
    }
  }
}

absl::Status ClusterGuards::Guard() {
  for (Node* update : order_.updates()) {
    const std::vector<int> checks = ChecksOf(update);
    if (checks.empty() || Scatters(*update)) {
      if (!checks.empty()) {
        TF_ASSIGN_OR_RETURN(Node * passes, PassesAll(checks));
        TF_RETURN_IF_ERROR(GuardIndices(update, passes));
      }
      for (int i = 0; i < update->num_inputs(); ++i) {
        if (update->input_type(i) != tensorflow::DT_RESOURCE) continue;
        Update& last = updates_[HandleOf(*update, i)];
        last = {update, last.all_guarded && !checks.empty()};
      }
    } else {
      TF_ASSIGN_OR_RETURN(Node * passes, PassesAll(checks));
      TF_RETURN_IF_ERROR(GuardVariables(update, passes));
    }
    if (checks.empty()) continue;
    OrderChecks(update, checks);
    const auto name = [&](std::string* out, int i) { absl::StrAppend(out, checks_[i].check->name()); };
    AddRewrite(&context_->report, update->name(), update->type_string(), "guards",
               absl::StrCat("keeps the variable's value if a check fails: ", absl::StrJoin(checks, ", ", name)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status GuardUpdates(PassContext* context) {
  Graph* graph = context->graph->get();
  const std::vector<LateCheck> checks = TakeLateChecks(graph);
  if (checks.empty()) return absl::OkStatus();
  std::map<std::string, std::vector<const LateCheck*>> checked;  // by cluster
  for (const LateCheck& check : checks) {
    for (const Node* node : check.checked) {
      const std::string cluster = ClusterOf(*node);
      if (cluster.empty()) continue;
      std::vector<const LateCheck*>& own = checked[cluster];
      if (own.empty() || own.back() != &check) own.push_back(&check);
    }
  }
  CheckSequence sequence(checks, graph);
  for (const auto& [cluster, own] : checked) {
    const ClusterMembers members(*graph);  // includes earlier guards
    ClusterGuards guards(context, cluster, members, &sequence);
    if (!guards.HasUpdates()) continue;
    for (const LateCheck* check : own) guards.Add(*check);
    TF_RETURN_IF_ERROR(guards.Guard());
  }
  WaitForChecks(checks, ClusterMembers(*graph), &sequence, graph);
  return absl::OkStatus();
}

}  // namespace hpu::passes
