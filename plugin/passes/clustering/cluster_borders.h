// Tensors that must not cross a cluster's border: TensorLists, and tensors whose size only the compiled code knows.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_BORDERS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_BORDERS_H_

#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

struct BorderRefusal {
  tensorflow::Node* node;
  std::string rule;
  std::string reason;
};

// The nodes that must leave their clusters because of tensors that cross a border; empty if there are none. `clusters`
// holds the cluster of each node by id, negative for none. Removing the nodes can make other tensors cross, so call
// again after it.
std::vector<BorderRefusal> CheckBorders(const tensorflow::Graph& graph, const std::vector<int>& clusters);

// Pairs of node ids in one cluster that CheckBorders would refuse if the nodes were in different clusters.
std::vector<std::pair<int, int>> FindTies(const tensorflow::Graph& graph, const std::vector<int>& clusters);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_BORDERS_H_
