#include "plugin/passes/clustering/check_waits.h"

#include <string>
#include <vector>

#include "plugin/passes/analysis/variable_updates.h"
#include "plugin/passes/graph/graph_util.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;

using NodeSet = absl::flat_hash_set<const Node*>;

// The nodes that precede an update, and the updates.
NodeSet NodesBeforeUpdates(const Graph& graph) {
  NodeSet seen;
  std::vector<const Node*> open;
  for (const Node* node : graph.op_nodes()) {
    if (UpdatesVariable(*node) && seen.insert(node).second) open.push_back(node);
  }
  while (!open.empty()) {
    const Node* const node = open.back();
    open.pop_back();
    for (const Edge* edge : node->in_edges()) {
      if (edge->src()->IsOp() && seen.insert(edge->src()).second) open.push_back(edge->src());
    }
  }
  return seen;
}

// Where the frame or the condition changes under which nodes run. Between such nodes, a node runs only if the checked
// op runs, and then the check runs, too.
bool IsBorder(const Node& node) { return node.IsMerge() || node.IsNextIteration() || node.IsExit() || node.IsEnter(); }

void Wait(const LateCheck& check, const ClusterMembers& members, const NodeSet& before_updates, Graph* graph) {
  const NodeSet ancestors = AncestorsOf(*check.check, members);
  absl::flat_hash_set<std::string> clusters;  // updates in these clusters are guarded
  NodeSet seen;
  std::vector<const Node*> open;
  for (const Node* node : check.checked) {
    if (std::string cluster = ClusterOf(*node); !cluster.empty()) clusters.insert(std::move(cluster));
    if (seen.insert(node).second) open.push_back(node);
  }
  while (!open.empty()) {
    const Node* const node = open.back();
    open.pop_back();
    for (const Edge* edge : OutEdges(*node)) {
      Node* next = edge->dst();
      if (!before_updates.contains(next) || !seen.insert(next).second) continue;
      const bool waits = IsBorder(*next) || (UpdatesVariable(*next) && !clusters.contains(ClusterOf(*next)));
      if (waits && !ancestors.contains(next)) {
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
  const NodeSet before_updates = NodesBeforeUpdates(*graph);
  for (const LateCheck& check : checks) Wait(check, members, before_updates, graph);
}

}  // namespace hpu::passes
