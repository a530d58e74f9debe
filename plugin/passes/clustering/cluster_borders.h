// Check for tensors that must not cross a cluster's border: TensorLists, and tensors whose size depends on values.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_BORDERS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_BORDERS_H_

#include <string>
#include <utility>
#include <vector>

#include "plugin/passes/clustering/bounded_sizes.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

struct BorderRefusal {
  tensorflow::Node* node;
  Rule rule;
  std::string reason;
};

// Returns the nodes that must leave their clusters, because a tensor of such a node must not cross a border. `clusters`
// is indexed by node id and contains cluster numbers, negative for none. `sizes` are of `graph`. Call again after
// removing the nodes, because the removal may move a border to other tensors.
std::vector<BorderRefusal> CheckBorders(const tensorflow::Graph& graph, const BoundedSizes& sizes,
                                        const std::vector<int>& clusters);

// Returns pairs of node ids that must stay in one cluster. If a cut separates a pair, CheckBorders refuses nodes of the
// cluster.
std::vector<std::pair<int, int>> FindTies(const tensorflow::Graph& graph, const BoundedSizes& sizes,
                                          const std::vector<int>& clusters);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_BORDERS_H_
