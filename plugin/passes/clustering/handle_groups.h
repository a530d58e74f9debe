// Groups of ops that must share a device, because the ops use the same resource handles.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_HANDLE_GROUPS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_HANDLE_GROUPS_H_

#include <vector>

#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Groups of ops that are connected by edges with resource handles. Edges into function calls do not count, because a
// call accepts handles of any device. The roots of a group are the ops that produce its handles (a variable, an
// argument, a table). Ignores later changes of the graph.
class HandleGroups {
 public:
  explicit HandleGroups(const tensorflow::Graph& graph);

  // The roots of a node's group; empty if the node has no handle.
  const std::vector<tensorflow::Node*>& RootsOf(const tensorflow::Node& node) const;

 private:
  int Find(int id) const;

  mutable std::vector<int> parent_;
  std::vector<std::vector<tensorflow::Node*>> roots_;  // by group representative
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_HANDLE_GROUPS_H_
