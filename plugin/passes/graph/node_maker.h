// Factory for nodes in a placed graph.
#ifndef HPU_PLUGIN_PASSES_GRAPH_NODE_MAKER_H_
#define HPU_PLUGIN_PASSES_GRAPH_NODE_MAKER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/graph/node_builder.h"

namespace hpu::passes {

// Makes nodes whose names begin with `prefix`, all assigned to `device`. If `anchor` is not null, constants get a
// control edge from it. In lowered loops and branches, a constant belongs to the frame of the node that it waits for.
class NodeMaker {
 public:
  NodeMaker(tensorflow::Graph* graph, std::string prefix, std::string device, tensorflow::Node* anchor = nullptr)
      : graph_(graph), prefix_(std::move(prefix)), device_(std::move(device)), anchor_(anchor) {}

  void set_anchor(tensorflow::Node* anchor) { anchor_ = anchor; }

  // Returns a builder. Call Input and Attr on it, then pass it to Add.
  tensorflow::NodeBuilder New(const std::string& suffix, const std::string& op) const;
  // The same for a stateful op. Its name depends on nothing else in the graph, because a session finds the kernel by
  // name for any set of fetches. At most one for each prefix and suffix.
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
  tensorflow::Node* anchor_;
};

// Moves every consumer of `from` to the same results of `to`, including control edges.
void MoveConsumers(tensorflow::Graph* graph, tensorflow::Node* from, tensorflow::Node* to);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_GRAPH_NODE_MAKER_H_
