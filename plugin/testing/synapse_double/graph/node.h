// Node of a graph.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_NODE_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_NODE_H_

#include <set>
#include <string>
#include <vector>

#include "plugin/backends/gaudi/synapse/types.h"
#include "plugin/testing/synapse_double/graph/tensor.h"

namespace hpu::synapse_double {

struct Node {
  synapse::synNodeId id = 0;
  std::string guid;
  std::string name;
  // Borrowed from the graph. Null: an optional operand is missing.
  std::vector<Tensor*> inputs;
  std::vector<Tensor*> outputs;
  std::vector<char> params;
  std::set<synapse::synNodeId> blocking;  // nodes that run before this node, by synNodeDependencySet
  bool deterministic = false;
  synapse::synRoundingMode rounding = synapse::synRoundToNearest;

  // "add_fwd_f32 (name)"
  std::string Describe() const { return name.empty() ? guid : guid + " (" + name + ")"; }
};

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_NODE_H_
