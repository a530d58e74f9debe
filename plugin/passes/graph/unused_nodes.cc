#include "plugin/passes/graph/unused_nodes.h"

#include "absl/algorithm/container.h"
#include "plugin/passes/graph/graph_util.h"

namespace hpu::passes {
namespace {

bool IsShapeOp(const tensorflow::Node& node) { return node.type_string() == "Shape" || node.type_string() == "ShapeN"; }

// Replaces the outgoing control edges of a node by control edges from the node's inputs.
void BypassControlEdges(tensorflow::Graph* graph, tensorflow::Node* node) {
  for (const tensorflow::Edge* out : OutEdges(*node)) {
    if (out->dst()->IsSink()) continue;
    for (const tensorflow::Edge* in : node->in_edges()) graph->AddControlEdge(in->src(), out->dst());
    graph->RemoveControlEdge(out);
  }
}

}  // namespace

void RemoveUnused(tensorflow::Graph* graph, std::vector<int> ids) {
  while (!ids.empty()) {
    tensorflow::Node* node = graph->FindNodeId(ids.back());
    ids.pop_back();
    if (node == nullptr || !node->IsOp() || node->op_def().is_stateful() || node->IsArg() || node->IsRetval()) continue;
    const bool may_pass = IsShapeOp(*node);
    const auto is_use = [may_pass](const tensorflow::Edge* edge) {
      return !edge->dst()->IsSink() && !(may_pass && edge->IsControlEdge());
    };
    if (absl::c_any_of(node->out_edges(), is_use)) continue;
    BypassControlEdges(graph, node);
    for (const tensorflow::Edge* edge : node->in_edges()) ids.push_back(edge->src()->id());
    graph->RemoveNode(node);
  }
}

}  // namespace hpu::passes
