// Ancestors of a node in the graph that remains after each cluster has become one node.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_ANCESTORS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_ANCESTORS_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// The cluster of a node; empty for a node outside clusters.
std::string ClusterOf(const tensorflow::Node& node);

// A set of nodes of a graph. Nodes that are added to the graph later cannot be inserted, and are not in the set.
class NodeFlags {
 public:
  explicit NodeFlags(int num_node_ids) : flags_(num_node_ids, false) {}

  // Returns whether the node was not yet in the set.
  bool Insert(const tensorflow::Node* node) {
    if (flags_[node->id()]) return false;
    flags_[node->id()] = true;
    return true;
  }
  bool Contains(const tensorflow::Node* node) const {
    return node->id() < static_cast<int>(flags_.size()) && flags_[node->id()];
  }
  void Intersect(const NodeFlags& other) {
    for (size_t i = 0; i < flags_.size(); ++i) flags_[i] = flags_[i] && other.flags_[i];
  }

 private:
  std::vector<bool> flags_;
};

// The clusters of a graph. Ignores later changes of the graph.
class ClusterMembers {
 public:
  explicit ClusterMembers(const tensorflow::Graph& graph);

  // The nodes of a cluster that exists, in order of their ids.
  const std::vector<tensorflow::Node*>& MembersOf(const std::string& cluster) const {
    return members_[numbers_.at(cluster)];
  }

  // The nodes on which `node` depends, including all nodes of their clusters, and `node` itself. Ignores the back edges
  // of loops. An edge from `node` to any other node creates no cycle between clusters.
  NodeFlags AncestorsOf(const tensorflow::Node& node) const;

 private:
  absl::flat_hash_map<std::string, int> numbers_;
  std::vector<std::vector<tensorflow::Node*>> members_;  // by number of the cluster
  std::vector<int> cluster_of_;                          // by node id; -1 outside clusters
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_ANCESTORS_H_
