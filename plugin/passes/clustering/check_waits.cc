#include "plugin/passes/clustering/check_waits.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "plugin/passes/analysis/variable_updates.h"
#include "plugin/passes/graph/graph_util.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;

// The nodes that precede an update, and the updates.
NodeFlags NodesBeforeUpdates(const Graph& graph) {
  NodeFlags seen(graph.num_node_ids());
  std::vector<const Node*> open;
  for (const Node* node : graph.op_nodes()) {
    if (UpdatesVariable(*node) && seen.Insert(node)) open.push_back(node);
  }
  while (!open.empty()) {
    const Node* const node = open.back();
    open.pop_back();
    for (const Edge* edge : node->in_edges()) {
      if (edge->src()->IsOp() && seen.Insert(edge->src())) open.push_back(edge->src());
    }
  }
  return seen;
}

// Where the frame or the condition changes under which nodes run. Between such nodes, a node runs only if the checked
// op runs, and then the check runs, too.
bool IsBorder(const Node& node) { return node.IsMerge() || node.IsNextIteration() || node.IsExit() || node.IsEnter(); }

void Wait(const LateCheck& check, const ClusterMembers& members, const NodeFlags& before_updates, Graph* graph) {
  std::optional<NodeFlags> ancestors;  // of the check; found when a node may have to wait
  const auto may_wait = [&](const Node* node) {
    if (!ancestors.has_value()) ancestors = members.AncestorsOf(*check.check);
    return !ancestors->Contains(node);
  };
  absl::flat_hash_set<std::string> clusters;  // updates in these clusters are guarded
  NodeFlags seen(graph->num_node_ids());
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
      if (!before_updates.Contains(next) || !seen.Insert(next)) continue;
      const bool waits = IsBorder(*next) || (UpdatesVariable(*next) && !clusters.contains(ClusterOf(*next)));
      if (waits && may_wait(next)) {
        graph->AddControlEdge(check.check, next);
      } else {
        open.push_back(next);
      }
    }
  }
}

}  // namespace

void WaitForChecks(absl::Span<const LateCheck> checks, const ClusterMembers& members, Graph* graph) {
  if (checks.empty()) return;
  const NodeFlags before_updates = NodesBeforeUpdates(*graph);
  for (const LateCheck& check : checks) Wait(check, members, before_updates, graph);
}

}  // namespace hpu::passes
