#include "plugin/passes/clustering/handle_groups.h"

#include <numeric>

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Node;

bool CarriesHandle(const Edge& edge) {
  return !edge.IsControlEdge() && edge.src()->output_type(edge.src_output()) == tensorflow::DT_RESOURCE &&
         !edge.dst()->IsFunctionCall() && !edge.dst()->IsRetval();
}

}  // namespace

HandleGroups::HandleGroups(const tensorflow::Graph& graph)
    : parent_(graph.num_node_ids()), roots_(graph.num_node_ids()) {
  std::iota(parent_.begin(), parent_.end(), 0);
  std::vector<bool> given(graph.num_node_ids());
  for (const Edge* edge : graph.edges()) {
    if (!CarriesHandle(*edge)) continue;
    parent_[Find(edge->src()->id())] = Find(edge->dst()->id());
    given[edge->dst()->id()] = true;
  }
  for (Node* node : graph.op_nodes()) {
    if (given[node->id()]) continue;
    for (const tensorflow::DataType type : node->output_types()) {
      if (type != tensorflow::DT_RESOURCE) continue;
      roots_[Find(node->id())].push_back(node);
      break;
    }
  }
}

const std::vector<Node*>& HandleGroups::RootsOf(const Node& node) const { return roots_[Find(node.id())]; }

int HandleGroups::Find(int id) const {
  while (parent_[id] != id) id = parent_[id] = parent_[parent_[id]];
  return id;
}

}  // namespace hpu::passes
