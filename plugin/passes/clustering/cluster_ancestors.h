// Ancestors of a node in the graph that remains after each cluster has become one node.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_ANCESTORS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_ANCESTORS_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// The cluster of a node; empty for a node outside clusters.
std::string ClusterOf(const tensorflow::Node& node);

// The nodes of each cluster, in order of their ids.
using ClusterMembers = absl::flat_hash_map<std::string, std::vector<tensorflow::Node*>>;
ClusterMembers MembersOfClusters(const tensorflow::Graph& graph);

// The nodes on which `node` depends, including all nodes of their clusters, and `node` itself. Ignores the back edges
// of loops. An edge from `node` to any other node creates no cycle between clusters.
absl::flat_hash_set<const tensorflow::Node*> AncestorsOf(const tensorflow::Node& node, const ClusterMembers& members);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_ANCESTORS_H_
