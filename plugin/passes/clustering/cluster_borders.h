// What must not cross a cluster's border: TensorLists, and tensors whose size only the compiled code knows.
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

// The nodes that must leave their clusters because of what crosses a border; empty if all is well. `clusters` gives
// each node's cluster by id, negative for none. Taking the nodes out may make others cross: ask again.
std::vector<BorderRefusal> CheckBorders(const tensorflow::Graph& graph, const std::vector<int>& clusters);

// Pairs of ids of nodes of one cluster that CheckBorders would refuse if they were in different ones.
std::vector<std::pair<int, int>> FindTies(const tensorflow::Graph& graph, const std::vector<int>& clusters);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_BORDERS_H_
