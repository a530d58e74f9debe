// Graph: owns tensors, sections and nodes.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_GRAPH_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_GRAPH_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "plugin/backends/gaudi/synapse/generation.h"
#include "plugin/testing/synapse_double/graph/node.h"
#include "plugin/testing/synapse_double/graph/node_check.h"
#include "plugin/testing/synapse_double/graph/tensor.h"
#include "plugin/testing/synapse_double/graph/verdict.h"
#include "plugin/testing/synapse_double/runtime/handles.h"

namespace hpu::synapse_double {

// Belongs to one thread at a time. The C functions register the handles of its tensors and sections.
class Graph {
 public:
  static constexpr HandleKind kKind = HandleKind::kGraph;

  explicit Graph(synapse::Generation generation) : generation_(generation) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  synapse::Generation generation() const { return generation_; }
  void set_inference(bool inference) { is_inference_ = inference; }

  std::shared_ptr<Section> AddSection();
  // If the graph has a tensor of this name, fails and sets `tensor` to that tensor.
  Verdict AddTensor(synapse::synTensorType kind, const std::string& name, std::shared_ptr<Tensor>* tensor);
  // Fails if a node uses the tensor.
  Verdict RemoveTensor(const Tensor& tensor);
  // Fails if a tensor lies in the section.
  Verdict RemoveSection(const Section& section);

  // Checks the node, locks its tensors and their sections, and sets its id.
  Verdict AddNode(Node node, synapse::synNodeId* id);
  // Null if the graph has no such node.
  Node* FindNode(synapse::synNodeId id);
  Verdict SetParams(Node* node, std::vector<char> params);
  Verdict AddDependencies(const std::vector<synapse::synNodeId>& blocking,
                          const std::vector<synapse::synNodeId>& blocked);

  // Checks all nodes again.
  Verdict CheckNodes() const;

  // A copy with tensors and sections of its own, in the same order. Nodes keep their order and get new ids. The copy's
  // tensors are not locked, so their geometry can change.
  std::shared_ptr<Graph> Duplicate() const;

  const std::vector<std::shared_ptr<Tensor>>& tensors() const { return tensors_; }
  const std::vector<std::shared_ptr<Section>>& sections() const { return sections_; }
  const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }

 private:
  NodeContext Context() const;
  Verdict CheckTensors(const Node& node) const;

  const synapse::Generation generation_;
  bool is_inference_ = false;
  std::vector<std::shared_ptr<Section>> sections_;
  std::vector<std::shared_ptr<Tensor>> tensors_;
  std::map<std::string, std::shared_ptr<Tensor>> named_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_GRAPH_GRAPH_H_
