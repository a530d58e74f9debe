// Removal of nodes that became unused.
#ifndef HPU_PLUGIN_PASSES_GRAPH_UNUSED_NODES_H_
#define HPU_PLUGIN_PASSES_GRAPH_UNUSED_NODES_H_

#include <vector>

#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Removes the given nodes (by id) that nothing uses, and then the nodes that only they used. Stateful ops, arguments
// and results stay; ids of removed nodes are ignored. Control edges do not count as uses of a shape op: their targets
// then wait for the inputs of that op instead.
void RemoveUnused(tensorflow::Graph* graph, std::vector<int> ids);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_GRAPH_UNUSED_NODES_H_
