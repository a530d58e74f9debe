#include "plugin/passes/clustering/handle_identity_pass.h"

#include <vector>

#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/reporting/report.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;

// A control edge into a Switch, Merge or similar op would change which branch or iteration the op waits for.
bool MayBypass(const Node& user, bool has_control_inputs) {
  return user.IsOp() && !user.IsRetval() && !(has_control_inputs && user.IsControlFlow());
}

// Returns whether any user moved.
bool Bypass(Graph* graph, Node* identity) {
  const tensorflow::OutputTensor handle = InputOf(*identity, 0);
  std::vector<Node*> waits_for;
  for (const Edge* edge : identity->in_edges()) {
    if (edge->IsControlEdge() && edge->src()->IsOp()) waits_for.push_back(edge->src());
  }
  bool moved = false;
  for (const Edge* edge : OutEdges(*identity)) {
    if (edge->IsControlEdge() || !MayBypass(*edge->dst(), !waits_for.empty())) continue;
    Node* const user = edge->dst();
    const int input = edge->dst_input();
    graph->RemoveEdge(edge);
    graph->AddEdge(handle.node, handle.index, user, input);
    for (Node* before : waits_for) graph->AddControlEdge(before, user);
    moved = true;
  }
  return moved;
}

bool HasUsers(const Node& node) {
  for (const Edge* edge : node.out_edges()) {
    if (!edge->dst()->IsSink()) return true;
  }
  return false;
}

}  // namespace

absl::Status BypassHandleIdentities(PassContext* context) {
  Graph* const graph = context->graph->get();
  std::vector<Node*> identities;
  for (Node* node : graph->op_nodes()) {
    if (node->type_string() == "Identity" && node->output_type(0) == tensorflow::DT_RESOURCE && IsOnHpu(*node))
      identities.push_back(node);
  }
  for (Node* identity : identities) {
    if (!Bypass(graph, identity)) continue;
    AddRewrite(&context->report, identity->name(), "Identity", "handles",
               "bypassed, so that a cluster gets each variable once");
    if (!HasUsers(*identity)) graph->RemoveNode(identity);
  }
  return absl::OkStatus();
}

}  // namespace hpu::passes
