// Nodes that nothing uses any more.
#ifndef HPU_PLUGIN_PASSES_GRAPH_UNUSED_NODES_H_
#define HPU_PLUGIN_PASSES_GRAPH_UNUSED_NODES_H_

#include <vector>

#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Removes those of the nodes, by id, that nothing uses, and then what only they used. Stateful ops, arguments and
// results stay, and so do nodes that are gone already. Who only waits for a shape that is not used waits for whom that
// shape waited.
void RemoveUnused(tensorflow::Graph* graph, std::vector<int> ids);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_GRAPH_UNUSED_NODES_H_
