#include "plugin/passes/random/fused_random_ops.h"

#include <string>
#include <vector>

#include "plugin/base/status_macros.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/node_maker.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace hpu::passes {
namespace {

using tensorflow::Node;
using tensorflow::NodeBuilder;

constexpr char kDropout[] = "HabanaDropoutStateful";
constexpr char kUniform[] = "HabanaRandomUniformWithMaxval";

NodeBuilder::NodeOut InputAt(const Node& node, int index) { return NodeBuilder::NodeOut(InputOf(node, index)); }

// Adds a RandomUniform with the seeds of `node`.
absl::StatusOr<Node*> AddUniformOf(const Node& node, NodeBuilder::NodeOut shape, const NodeMaker& maker) {
  int64_t seed = 0;
  int64_t seed2 = 0;
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(node.attrs(), "seed", &seed));
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(node.attrs(), "seed2", &seed2));
  NodeBuilder builder = maker.NewState("noise", "RandomUniform");
  builder.Input(shape).Attr("dtype", node.output_type(0)).Attr("seed", seed).Attr("seed2", seed2);
  return maker.Add(builder);
}

// Adds the ops that replace a HabanaDropoutStateful. Returns the random op and the op with the results of `node`.
absl::StatusOr<std::pair<Node*, Node*>> AddDropout(const Node& node, const NodeMaker& maker) {
  float rate = 0;
  float scale = 0;
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(node.attrs(), "rate", &rate));
  HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(node.attrs(), "scale", &scale));
  NodeBuilder shape_builder = maker.New("shape", "Shape");
  HPU_ASSIGN_OR_RETURN(Node * shape, maker.Add(shape_builder.Input(InputAt(node, 0))));
  HPU_ASSIGN_OR_RETURN(Node * noise, AddUniformOf(node, NodeBuilder::NodeOut(shape), maker));
  NodeBuilder builder = maker.New("dropout", "HabanaDropout");
  builder.Input(InputAt(node, 0)).Input(noise).Attr("rate", rate).Attr("scale", scale);
  HPU_ASSIGN_OR_RETURN(Node * dropout, maker.Add(builder));
  return std::pair(noise, dropout);
}

// Like AddDropout, for a HabanaRandomUniformWithMaxval.
absl::StatusOr<std::pair<Node*, Node*>> AddScaledUniform(const Node& node, const NodeMaker& maker) {
  HPU_ASSIGN_OR_RETURN(Node * noise, AddUniformOf(node, InputAt(node, 0), maker));
  NodeBuilder builder = maker.New("scaled", "Mul");
  HPU_ASSIGN_OR_RETURN(Node * scaled, maker.Add(builder.Input(noise).Input(InputAt(node, 1))));
  return std::pair(noise, scaled);
}

absl::Status Expand(PassContext* context, Node* node) {
  tensorflow::Graph* graph = context->graph->get();
  const NodeMaker maker(graph, node->name(), node->assigned_device_name());
  HPU_ASSIGN_OR_RETURN(const auto added,
                       node->type_string() == kDropout ? AddDropout(*node, maker) : AddScaledUniform(*node, maker));
  const auto [noise, last] = added;
  for (const tensorflow::Edge* edge : node->in_edges()) {
    if (!edge->IsControlEdge() || edge->src()->IsSource()) continue;
    graph->AddControlEdge(edge->src(), noise, /*allow_duplicates=*/true);
    graph->AddControlEdge(edge->src(), last, /*allow_duplicates=*/true);
  }
  MoveConsumers(graph, node, last);
  const std::string name = node->name();
  AddRewrite(&context->report, name, node->type_string(), "random",
             "split into " + noise->type_string() + " and " + last->type_string());
  graph->RemoveNode(node);
  last->set_name(name);
  return absl::OkStatus();
}

}  // namespace

absl::Status ExpandFusedRandomOps(PassContext* context) {
  std::vector<Node*> found;
  for (Node* node : (*context->graph)->op_nodes()) {
    const bool is_fused = node->type_string() == kDropout || node->type_string() == kUniform;
    if (is_fused && IsOnHpu(*node)) found.push_back(node);
  }
  for (Node* node : found) HPU_RETURN_IF_ERROR(Expand(context, node));
  return absl::OkStatus();
}

}  // namespace hpu::passes
