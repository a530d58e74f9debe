// Level assignment: the linear-time step of segmentation that groups vertices into clusters.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_LEVELS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_LEVELS_H_

#include <vector>

#include "plugin/passes/clustering/order_graph.h"

namespace hpu::passes {

inline constexpr int kNoClass = -1;

// Assigns each vertex a level. All vertices of one class (>= 0) on one level can form a cluster: no path leaves the
// cluster and returns to it.
//
// The level increases along an edge into a vertex with a class if the edge's source has another class or none. A second
// sweep, in reverse order, raises a vertex to the lowest level of its consumers in the same class if all edges allow
// this level. Vertices of kNoClass are outside every cluster.
std::vector<int> AssignLevels(const OrderGraph& order, const std::vector<int>& classes);

// Numbers the clusters (equal class and level) from 0, in topological order of their first members. Merges a cluster
// with the preceding cluster of its class, by level, if this creates no cycle. Returns the cluster number of each
// vertex, -1 for kNoClass.
std::vector<int> MergeLevels(const OrderGraph& order, const std::vector<int>& classes, const std::vector<int>& levels);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_LEVELS_H_
