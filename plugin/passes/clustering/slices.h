// Splitting of clusters that are too large.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_SLICES_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_SLICES_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Cuts a cluster's nodes, given in topological order, into runs of `largest`, so that no run depends on a later one.
// `ties` are pairs of node ids, of any cluster, that a cut must not separate (FindTies). A cut that would separate a
// tie moves to an earlier position. If there is none, it moves to a later one, and the slice is larger than `largest`.
std::vector<std::vector<tensorflow::Node*>> Slice(const std::vector<tensorflow::Node*>& nodes, size_t largest,
                                                  const std::vector<std::pair<int, int>>& ties);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_SLICES_H_
