#include "plugin/passes/clustering/update_guard_pass.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/base/status_macros.h"
#include "plugin/passes/analysis/variable_updates.h"
#include "plugin/passes/clustering/assertion_pass.h"
#include "plugin/passes/clustering/check_tests.h"
#include "plugin/passes/clustering/check_waits.h"
#include "plugin/passes/clustering/cluster_ancestors.h"
#include "plugin/passes/clustering/variable_guards.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/node_maker.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;

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
        order_(members.MembersOf(cluster)),
        guards_(context->graph->get(), [this](Node* node) { node->AddAttr(kClusterAttr, cluster_); }) {}

  bool HasUpdates() const { return !order_.updates().empty(); }
  // Adds a check of ops in the cluster.
  void Add(const LateCheck& check);
  absl::Status Guard();

 private:
  // A check of ops in the cluster.
  struct Check {
    Node* check = nullptr;
    Node* checked = nullptr;  // op in the cluster whose values are checked
    const std::vector<Node*>* all_checked = nullptr;
    NodeFlags before{0};     // updates among these happen even if the check fails
    int position = -1;       // last position of the test's inputs in order_
    Node* passes = nullptr;  // the test in the cluster; null until it is needed
    Node* raises = nullptr;  // raises an assertion's error if the cluster runs on the CPU; null for other checks
  };

  absl::Status AddAssertions();
  std::vector<int> ChecksOf(const Node* update) const;
  absl::StatusOr<Node*> TestOf(Check* check);
  absl::StatusOr<Node*> PassesAll(const std::vector<int>& checks);
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
  VariableGuards guards_;
};

void ClusterGuards::Add(const LateCheck& late) {
  Check check;
  check.check = late.check;
  check.all_checked = &late.checked;
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
  const bool is_test = HasTest(*check.check);
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
  if (check->passes != nullptr) return check->passes;
  HPU_ASSIGN_OR_RETURN(check->passes, MakeTest(*check->check, *check->checked, cluster_, context_->graph->get()));
  if (check->check->type_string() == kAssertOp) {
    HPU_ASSIGN_OR_RETURN(check->raises, Place(CopyAssertion(*check->check, *check->checked, context_->graph->get())));
  }
  return check->passes;
}

absl::StatusOr<Node*> ClusterGuards::PassesAll(const std::vector<int>& checks) {
  Node*& all = passes_[checks];
  if (all != nullptr) return all;
  Node* passes = nullptr;
  for (const int i : checks) {
    HPU_ASSIGN_OR_RETURN(Node * test, TestOf(&checks_[i]));
    if (passes == nullptr) {
      passes = test;
    } else {
      HPU_ASSIGN_OR_RETURN(passes, Place(Maker(*checks_[i].checked).Binary("all", "LogicalAnd", passes, test)));
    }
  }
  return all = passes;
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

// If the cluster runs on the CPU, its ops that wait for an assertion in the program wait for it.
absl::Status ClusterGuards::AddAssertions() {
  for (Check& check : checks_) {
    if (check.check->type_string() != kAssertOp) continue;
    HPU_RETURN_IF_ERROR(TestOf(&check).status());
    for (Node* node : *check.all_checked) {
      const bool waits = node != InputOf(*check.check, 0).node && order_.Contains(node);
      if (waits) (*context_->graph)->AddControlEdge(check.raises, node);
    }
  }
  return absl::OkStatus();
}

absl::Status ClusterGuards::Guard() {
  HPU_RETURN_IF_ERROR(AddAssertions());
  for (Node* update : order_.updates()) {
    const std::vector<int> checks = ChecksOf(update);
    if (checks.empty()) {
      guards_.Skip(update, /*guarded=*/false);
      continue;
    }
    HPU_ASSIGN_OR_RETURN(Node * passes, PassesAll(checks));
    for (const int i : checks) {
      if (checks_[i].raises != nullptr) (*context_->graph)->AddControlEdge(checks_[i].raises, update);
    }
    HPU_RETURN_IF_ERROR(guards_.Guard(update, passes));
    OrderChecks(update, checks);
    const auto name = [&](std::string* out, int i) { absl::StrAppend(out, checks_[i].check->name()); };
    AddRewrite(&context_->report, update->name(), update->type_string(), "guards",
               absl::StrCat("keeps the variable's value if a check fails: ", absl::StrJoin(checks, ", ", name)));
  }
  return absl::OkStatus();
}

// Makes the ops that the program lets wait for an assertion wait for it again if they are in no cluster.
void RestoreWaits(const std::vector<LateCheck>& checks, Graph* graph) {
  const ClusterMembers members(*graph);
  for (const LateCheck& check : checks) {
    if (check.check->type_string() != kAssertOp) continue;
    const NodeFlags ancestors = members.AncestorsOf(*check.check);
    for (Node* node : check.checked) {
      if (ClusterOf(*node).empty() && !ancestors.Contains(node)) graph->AddControlEdge(check.check, node);
    }
  }
}

}  // namespace

absl::Status GuardUpdates(PassContext* context) {
  Graph* graph = context->graph->get();
  const std::vector<LateCheck> checks = TakeLateChecks(graph);
  if (checks.empty()) return absl::OkStatus();
  RestoreWaits(checks, graph);
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
    const bool asserts =
        absl::c_any_of(own, [](const LateCheck* check) { return check->check->type_string() == kAssertOp; });
    if (!guards.HasUpdates() && !asserts) continue;
    for (const LateCheck* check : own) guards.Add(*check);
    HPU_RETURN_IF_ERROR(guards.Guard());
  }
  WaitForChecks(checks, ClusterMembers(*graph), &sequence, graph);
  return absl::OkStatus();
}

}  // namespace hpu::passes
