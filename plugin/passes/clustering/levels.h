// Level assignment: the linear-time part of segmentation, which groups vertices into clusters.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_LEVELS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_LEVELS_H_

#include <vector>

#include "plugin/passes/clustering/order_graph.h"

namespace hpu::passes {

inline constexpr int kNoClass = -1;

// Assigns each vertex a level. Any set of vertices of one class (>= 0) on one level can be one cluster: no path leads
// from the cluster through a vertex outside it and back.
//
// A level rises along an edge into a classed vertex whose source has another class or none. A second sweep, from the
// end, moves a vertex up to the level of its consumers if all of them are further up. Vertices of kNoClass are outside
// every cluster.
std::vector<int> AssignLevels(const OrderGraph& order, const std::vector<int>& classes);

// Numbers the clusters of equal class and level from 0, in topological order of their first members. Merges pairs of
// clusters of one class where that makes no cycle. Returns the cluster number of each vertex, -1 for kNoClass.
std::vector<int> MergeLevels(const OrderGraph& order, const std::vector<int>& classes, const std::vector<int>& levels);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_LEVELS_H_
