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

ClusterMembers::ClusterMembers(const tensorflow::Graph& graph) : cluster_of_(graph.num_node_ids(), -1) {
  for (Node* node : graph.op_nodes()) {
    const std::string cluster = ClusterOf(*node);
    if (cluster.empty()) continue;
    const int number = numbers_.emplace(cluster, static_cast<int>(members_.size())).first->second;
    if (number == static_cast<int>(members_.size())) members_.emplace_back();
    members_[number].push_back(node);
    cluster_of_[node->id()] = number;
  }
}

NodeFlags ClusterMembers::AncestorsOf(const Node& node) const {
  NodeFlags seen(static_cast<int>(cluster_of_.size()));
  std::vector<bool> expanded(members_.size(), false);
  std::vector<const Node*> open;
  const auto reach = [&](const Node* ancestor) {
    if (seen.Insert(ancestor)) open.push_back(ancestor);
  };
  reach(&node);
  while (!open.empty()) {
    const Node* const current = open.back();
    open.pop_back();
    const int cluster = cluster_of_[current->id()];
    if (cluster >= 0 && !expanded[cluster]) {
      expanded[cluster] = true;
      for (const Node* member : members_[cluster]) reach(member);
    }
    for (const Edge* edge : current->in_edges()) {
      if (edge->src()->IsOp() && !edge->src()->IsNextIteration()) reach(edge->src());
    }
  }
  return seen;
}

}  // namespace hpu::passes
