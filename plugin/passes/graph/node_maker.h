// Factory for nodes.
#ifndef HPU_PLUGIN_PASSES_GRAPH_NODE_MAKER_H_
#define HPU_PLUGIN_PASSES_GRAPH_NODE_MAKER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/graph/node_builder.h"

namespace hpu::passes {

// Creates nodes whose names begin with `prefix`, on `device`. The nodes of a placed graph are assigned to it; its name
// is complete. Before placement, the nodes request it; its name may be partial (/device:HPU:0) or empty. If `anchor` is
// not null, each constant has a control edge from `anchor`. In lowered loops and branches, this edge puts the constant
// into the frame of `anchor`.
class NodeMaker {
 public:
  NodeMaker(tensorflow::Graph* graph, std::string prefix, std::string device, tensorflow::Node* anchor = nullptr);

  void set_anchor(tensorflow::Node* anchor) { anchor_ = anchor; }

  // Returns a builder for a node. Add inputs and attributes to the builder, then pass it to Add.
  tensorflow::NodeBuilder New(const std::string& suffix, const std::string& op) const;
  // Like New, for a stateful op. A Session finds the op's kernel by node name, for any set of fetches. The name
  // therefore depends only on `prefix` and `suffix`. Call at most once for each pair of prefix and suffix.
  tensorflow::NodeBuilder NewState(const std::string& suffix, const std::string& op) const;
  absl::StatusOr<tensorflow::Node*> Add(tensorflow::NodeBuilder& builder) const;
  absl::StatusOr<tensorflow::Node*> Constant(const std::string& suffix, const tensorflow::Tensor& value) const;
  absl::StatusOr<tensorflow::Node*> Binary(const std::string& suffix, const std::string& op, tensorflow::Node* x,
                                           tensorflow::Node* y) const;
  absl::StatusOr<tensorflow::Node*> Bitcast(const std::string& suffix, tensorflow::Node* x,
                                            tensorflow::DataType type) const;
  absl::StatusOr<tensorflow::Node*> Cast(const std::string& suffix, tensorflow::NodeBuilder::NodeOut x,
                                         tensorflow::DataType type) const;

 private:
  tensorflow::Graph* graph_;
  std::string prefix_;
  std::string device_;
  bool assigns_;  // whether the name of the device is complete
  tensorflow::Node* anchor_;
};

// Returns a node whose only result is `flag`, a boolean. Unlike an Identity, passes do not remove it.
absl::StatusOr<tensorflow::Node*> OnlyOutput(tensorflow::OutputTensor flag, const NodeMaker& maker);

// Moves every consumer of `from` to the same results of `to`, including control edges.
void MoveConsumers(tensorflow::Graph* graph, tensorflow::Node* from, tensorflow::Node* to);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_GRAPH_NODE_MAKER_H_
