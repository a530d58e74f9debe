#include "plugin/passes/unused_nodes.h"

#include "absl/algorithm/container.h"

namespace hpu::passes {

void RemoveUnused(tensorflow::Graph* graph, std::vector<int> ids) {
  while (!ids.empty()) {
    tensorflow::Node* node = graph->FindNodeId(ids.back());
    ids.pop_back();
    if (node == nullptr || !node->IsOp() || node->op_def().is_stateful() || node->IsArg() || node->IsRetval()) continue;
    const auto is_use = [](const tensorflow::Edge* edge) { return !edge->dst()->IsSink(); };
    if (absl::c_any_of(node->out_edges(), is_use)) continue;
    for (const tensorflow::Edge* edge : node->in_edges()) ids.push_back(edge->src()->id());
    graph->RemoveNode(node);
  }
}

}  // namespace hpu::passes
