// Removal of unused nodes from a graph.
#ifndef HPU_PLUGIN_PASSES_GRAPH_UNUSED_NODES_H_
#define HPU_PLUGIN_PASSES_GRAPH_UNUSED_NODES_H_

#include <vector>

#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Removes the nodes in `ids` that have no users, and then their inputs that have no users left. Keeps stateful ops,
// arguments and results. Ignores ids of nodes that no longer exist. Control edges from a Shape op do not count as uses:
// the targets of these edges then wait for the inputs of the Shape op.
void RemoveUnused(tensorflow::Graph* graph, std::vector<int> ids);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_GRAPH_UNUSED_NODES_H_
