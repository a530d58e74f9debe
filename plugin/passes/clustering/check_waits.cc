#include "plugin/passes/clustering/check_waits.h"

#include <optional>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/analysis/variable_updates.h"
#include "plugin/passes/graph/graph_util.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;

using ChecksByOp = absl::flat_hash_map<const Node*, std::vector<const Node*>>;

ChecksByOp ChecksOfOps(absl::Span<const LateCheck> checks) {
  ChecksByOp result;
  for (const LateCheck& check : checks) {
    for (const Node* node : check.checked) result[node].push_back(check.check);
  }
  return result;
}

// Whether a node outside clusters does something that the program can notice if the step fails. The plugin's own ops
// (checks, states of random numbers) and late assertions do not.
bool HasEffect(const Node& node) {
  const bool is_border = node.IsArg() || node.IsRetval() || node.IsSend() || node.IsRecv() || node.IsControlFlow();
  const bool is_own = absl::StartsWith(node.type_string(), "Habana") || node.attrs().Find(kLateAttr) != nullptr;
  return node.op_def().is_stateful() && !is_border && !is_own && !FactsOf(node.type_string()).only_reads &&
         ClusterOf(node).empty();
}

// Whether a node with an effect waits for a check.
bool WaitsFor(const Node& check, const Node& node) {
  const std::string& op = node.type_string();
  const bool is_collective = node.IsCollective() || absl::StrContains(op, "Collective");
  return HasEffect(node) && (!is_collective || check.type_string() == kAssertOp);
}

std::vector<const Node*> Effects(const Graph& graph) {
  std::vector<const Node*> effects;
  for (const Node* node : graph.op_nodes()) {
    if (UpdatesVariable(*node) || HasEffect(*node)) effects.push_back(node);
  }
  return effects;
}

// The nodes, and the nodes that precede one of them.
NodeFlags WithAncestors(std::vector<const Node*> nodes, const Graph& graph) {
  NodeFlags seen(graph.num_node_ids());
  for (const Node* node : nodes) seen.Insert(node);
  while (!nodes.empty()) {
    const Node* const node = nodes.back();
    nodes.pop_back();
    for (const Edge* edge : node->in_edges()) {
      if (edge->src()->IsOp() && seen.Insert(edge->src())) nodes.push_back(edge->src());
    }
  }
  return seen;
}

// Where the frame or the condition changes under which nodes run. Between such nodes, a node runs only if the checked
// op runs, and then the check runs, too.
bool IsBorder(const Node& node) { return node.IsMerge() || node.IsNextIteration() || node.IsExit() || node.IsEnter(); }

class WaitMaker {
 public:
  WaitMaker(absl::Span<const LateCheck> checks, const ClusterMembers& members, CheckSequence* sequence, Graph* graph)
      : members_(members),
        sequence_(sequence),
        graph_(graph),
        checks_(ChecksOfOps(checks)),
        before_effects_(WithAncestors(Effects(*graph), *graph)),
        before_ops_(WithAncestors(CheckedOps(), *graph)) {}

  void Wait(const LateCheck& check) const;

 private:
  std::vector<const Node*> CheckedOps() const {
    std::vector<const Node*> ops;
    for (const auto& [op, checks] : checks_) ops.push_back(op);
    return ops;
  }
  const ClusterMembers& members_;
  CheckSequence* const sequence_;
  Graph* const graph_;
  const ChecksByOp checks_;  // by checked op
  const NodeFlags before_effects_;
  const NodeFlags before_ops_;
};

void WaitMaker::Wait(const LateCheck& check) const {
  std::optional<NodeFlags> ancestors;  // of the check; found when a node may have to wait
  const auto may_wait = [&](const Node* node) {
    if (!ancestors.has_value()) ancestors = members_.AncestorsOf(*check.check);
    return !ancestors->Contains(node);
  };
  // Whether `op` has checks, and all of them wait. What depends on `op` waits for its checks.
  const auto checks_wait = [&](const Node* op) {
    const auto found = checks_.find(op);
    if (found == checks_.end()) return false;
    bool all = true;
    for (const Node* later : found->second) {
      all &= later == check.check || (may_wait(later) && sequence_->Add(check.check, later));
    }
    return all;
  };
  absl::flat_hash_set<std::string> clusters;  // updates in these clusters are guarded
  NodeFlags seen(graph_->num_node_ids());
  std::vector<const Node*> open;
  for (const Node* node : check.checked) {
    if (std::string cluster = ClusterOf(*node); !cluster.empty()) clusters.insert(std::move(cluster));
    if (seen.Insert(node)) open.push_back(node);
  }
  while (!open.empty()) {
    const Node* const node = open.back();
    open.pop_back();
    for (const Edge* edge : OutEdges(*node)) {
      Node* next = edge->dst();
      const bool precedes_effect = before_effects_.Contains(next);
      if (!precedes_effect && (IsBorder(*next) || !before_ops_.Contains(next))) continue;
      if (!seen.Insert(next) || checks_wait(next)) continue;
      const bool waits = IsBorder(*next) || WaitsFor(*check.check, *next) ||
                         (UpdatesVariable(*next) && !clusters.contains(ClusterOf(*next)));
      if (waits && may_wait(next)) {
        graph_->AddControlEdge(check.check, next);
      } else {
        open.push_back(next);
      }
    }
  }
}

}  // namespace

CheckSequence::CheckSequence(absl::Span<const LateCheck> checks, Graph* graph)
    : graph_(graph), waits_(checks.size(), std::vector<bool>(checks.size(), false)) {
  for (const LateCheck& check : checks) {
    numbers_.emplace(check.check, static_cast<int>(checks_.size()));
    checks_.push_back(check.check);
  }
}

bool CheckSequence::Add(const Node* earlier, const Node* later) {
  const int first = numbers_.at(earlier), second = numbers_.at(later);
  if (first == second || waits_[first][second]) return false;
  if (waits_[second][first]) return true;
  graph_->AddControlEdge(checks_[first], checks_[second]);
  for (size_t i = 0; i < waits_.size(); ++i) {
    if (static_cast<int>(i) != second && !waits_[i][second]) continue;
    waits_[i][first] = true;
    for (size_t j = 0; j < waits_.size(); ++j) waits_[i][j] = waits_[i][j] || waits_[first][j];
  }
  return true;
}

void WaitForChecks(absl::Span<const LateCheck> checks, const ClusterMembers& members, CheckSequence* sequence,
                   Graph* graph) {
  const WaitMaker maker(checks, members, sequence, graph);
  for (const LateCheck& check : checks) maker.Wait(check);
}

}  // namespace hpu::passes
