// Order of a graph's nodes: producers and readers of tensors, cycles, paths.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_NODE_ORDER_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_NODE_ORDER_H_

#include <cstddef>
#include <map>
#include <unordered_map>
#include <vector>

#include "plugin/testing/synapse_double/graph/graph.h"
#include "plugin/testing/synapse_double/graph/verdict.h"

namespace hpu::synapse_double {

// Borrows the graph. Nodes are indices of Graph::nodes.
class NodeOrder {
 public:
  // Checks rule 15: the graph's structure.
  static Verdict Create(const Graph& graph, NodeOrder* order);

  // Checks rule 16: tensors that share memory.
  Verdict CheckOverlaps() const;

  // An order of execution.
  const std::vector<size_t>& sorted() const { return sorted_; }
  // Nodes that must run before a node.
  const std::vector<size_t>& before(size_t node) const { return before_[node]; }
  bool IsWritten(const Tensor& tensor) const { return writers_.count(&tensor) > 0; }
  // Whether a node reads or writes the tensor.
  bool IsUsed(const Tensor& tensor) const { return IsWritten(tensor) || readers_.count(&tensor) > 0; }

 private:
  struct Access {
    size_t node;
    bool is_write;
  };

  Verdict FindWriters();
  Verdict CheckInputs() const;
  Verdict CheckUse() const;
  void FindEdges();
  Verdict Sort();
  std::vector<Access> AccessesOf(const Tensor& tensor) const;
  bool HasPath(size_t from, size_t to) const;
  Verdict CheckPair(const Tensor& a, const Tensor& b) const;

  const Graph* graph_ = nullptr;
  std::unordered_map<const Tensor*, size_t> writers_;
  std::unordered_map<const Tensor*, std::vector<size_t>> readers_;
  std::vector<std::vector<size_t>> before_;
  std::vector<std::vector<size_t>> after_;
  std::vector<size_t> sorted_;
  mutable std::map<size_t, std::vector<bool>> reachable_;  // nodes that a node has a path to
};

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_NODE_ORDER_H_
