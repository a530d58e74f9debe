#include "plugin/passes/clustering/cluster_ancestors.h"

#include "plugin/passes/graph/graph_util.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {

using tensorflow::Edge;
using tensorflow::Node;

std::string ClusterOf(const Node& node) {
  std::string cluster;
  tensorflow::TryGetNodeAttr(node.attrs(), kClusterAttr, &cluster);
  return cluster;
}

ClusterMembers MembersOfClusters(const tensorflow::Graph& graph) {
  ClusterMembers members;
  for (Node* node : graph.op_nodes()) {
    if (std::string cluster = ClusterOf(*node); !cluster.empty()) members[std::move(cluster)].push_back(node);
  }
  return members;
}

absl::flat_hash_set<const Node*> AncestorsOf(const Node& node, const ClusterMembers& members) {
  absl::flat_hash_set<const Node*> seen;
  absl::flat_hash_set<std::string> expanded;
  std::vector<const Node*> open;
  const auto reach = [&](const Node* ancestor) {
    if (seen.insert(ancestor).second) open.push_back(ancestor);
  };
  reach(&node);
  while (!open.empty()) {
    const Node* const current = open.back();
    open.pop_back();
    const auto cluster = members.find(ClusterOf(*current));
    if (cluster != members.end() && expanded.insert(cluster->first).second) {
      for (const Node* member : cluster->second) reach(member);
    }
    for (const Edge* edge : current->in_edges()) {
      if (edge->src()->IsOp() && !edge->src()->IsNextIteration()) reach(edge->src());
    }
  }
  return seen;
}

}  // namespace hpu::passes
