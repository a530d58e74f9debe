// Slices of a cluster that is too large.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_SLICES_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_SLICES_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Cuts a cluster's nodes, given in topological order, into runs of `largest`, so that no run depends on a later one.
// `ties` are pairs of node ids, of any cluster, that a cut must not part (FindTies): it is made earlier where it would,
// and later, in a slice that is too large, where nothing else is left.
std::vector<std::vector<tensorflow::Node*>> Slice(const std::vector<tensorflow::Node*>& nodes, size_t largest,
                                                  const std::vector<std::pair<int, int>>& ties);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_SLICES_H_
