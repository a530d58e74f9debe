// Clusters by levels: the linear part of segmentation.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_LEVELS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_LEVELS_H_

#include <vector>

#include "plugin/passes/clustering/order_graph.h"

namespace hpu::passes {

inline constexpr int kNoClass = -1;

// A level for every vertex such that vertices of one class (>= 0) on one level can be one cluster, whatever their
// number: no path leads from one of them through a vertex outside the cluster back into it.
//
// A level rises along an edge into a classed vertex whose source has another class or none. A second sweep, from the
// end, moves a vertex up to where its consumers are, if they are all further up. kNoClass stands outside every cluster.
std::vector<int> AssignLevels(const OrderGraph& order, const std::vector<int>& classes);

// Numbers clusters of the same class and level, 0 and up in topological order of the first member, and merges pairs of
// equal class wherever that makes no cycle. Returns the number of each vertex's cluster, -1 for kNoClass.
std::vector<int> MergeLevels(const OrderGraph& order, const std::vector<int>& classes, const std::vector<int>& levels);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_LEVELS_H_
