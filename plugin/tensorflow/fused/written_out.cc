#include "plugin/tensorflow/fused/written_out.h"

#include <utility>
#include <vector>

#include "plugin/base/status_macros.h"
#include "plugin/tensorflow/fused/decomposition.h"
#include "plugin/tensorflow/fused/fused_op.h"

namespace hpu {
namespace {

using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;

struct Source {
  Node* node;
  int output;
};

class Replacement {
 public:
  Replacement(Graph* graph, Node* fused, Decomposition decomposition)
      : graph_(graph), fused_(fused), decomposition_(std::move(decomposition)) {}

  absl::Status Run() {
    std::vector<const Edge*> inputs;
    HPU_RETURN_IF_ERROR(fused_->input_edges(&inputs));
    for (const Edge* edge : inputs) inputs_.push_back({edge->src(), edge->src_output()});
    for (const Decomposition::Step& step : decomposition_.steps) HPU_RETURN_IF_ERROR(AddStep(step));
    MoveConsumers();
    graph_->RemoveNode(fused_);
    return absl::OkStatus();
  }

 private:
  Source SourceOf(const Decomposition::Value& value) const {
    return value.step < 0 ? inputs_[value.index] : Source{steps_[value.step], value.index};
  }

  absl::Status AddStep(const Decomposition::Step& step) {
    tensorflow::NodeDef definition = step.properties->node_def;
    definition.set_name(graph_->NewName(definition.name()));
    definition.clear_input();
    HPU_ASSIGN_OR_RETURN(Node * node, graph_->AddNode(std::move(definition)));
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      const Source source = SourceOf(step.inputs[i]);
      graph_->AddEdge(source.node, source.output, node, static_cast<int>(i));
    }
    // In a loop, a constant must belong to the loop's frame.
    if (step.inputs.empty() && !inputs_.empty()) graph_->AddControlEdge(inputs_[0].node, node);
    for (const Edge* edge : fused_->in_edges()) {
      if (edge->IsControlEdge()) graph_->AddControlEdge(edge->src(), node);
    }
    steps_.push_back(node);
    return absl::OkStatus();
  }

  void MoveConsumers() {
    const std::vector<const Edge*> edges(fused_->out_edges().begin(), fused_->out_edges().end());
    for (const Edge* edge : edges) {
      Node* const consumer = edge->dst();
      const int input = edge->dst_input();
      if (edge->IsControlEdge()) {
        for (Node* step : steps_) graph_->AddControlEdge(step, consumer);
        continue;
      }
      const Source source = SourceOf(decomposition_.results[edge->src_output()]);
      graph_->RemoveEdge(edge);
      graph_->AddEdge(source.node, source.output, consumer, input);
    }
  }

  Graph* const graph_;
  Node* const fused_;
  const Decomposition decomposition_;
  std::vector<Source> inputs_;
  std::vector<Node*> steps_;
};

}  // namespace

absl::Status WriteOutFusedOps(Graph* graph) {
  std::vector<Node*> fused;
  for (Node* node : graph->op_nodes()) {
    if (FusedOp::Contains(node->type_string())) fused.push_back(node);
  }
  for (Node* node : fused) {
    HPU_ASSIGN_OR_RETURN(const std::vector<passes::OpStatement> statements, FusedOp::DecompositionOf(node->def()));
    HPU_ASSIGN_OR_RETURN(Decomposition decomposition,
                         MakeDecomposition(statements, node->def(), node->op_def(), node->input_types()));
    HPU_RETURN_IF_ERROR(Replacement(graph, node, std::move(decomposition)).Run());
  }
  return absl::OkStatus();
}

}  // namespace hpu
