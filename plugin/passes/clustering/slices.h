// Splitting of clusters that exceed the size limit.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_SLICES_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_SLICES_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Cuts a cluster's nodes, which are in topological order, into slices of at most `largest` nodes. No slice depends on a
// later slice. `ties` are pairs of node ids, from any cluster, that a cut must not separate (FindTies). A cut that
// would separate a tie moves to an earlier position. If there is no earlier position, the cut moves to a later
// position, and the slice exceeds `largest`.
std::vector<std::vector<tensorflow::Node*>> Slice(const std::vector<tensorflow::Node*>& nodes, size_t largest,
                                                  const std::vector<std::pair<int, int>>& ties);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_SLICES_H_
