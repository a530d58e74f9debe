#include "plugin/passes/clustering/order_graph.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tensorflow/core/graph/control_flow.h"
#include "tensorflow/core/lib/core/errors.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;

bool HasLoops(const Graph& graph) {
  for (const Node* node : graph.op_nodes()) {
    if (node->IsEnter()) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<OrderGraph> OrderGraph::Make(const Graph& graph) {
  OrderGraph result;
  const int nodes = graph.num_node_ids();
  std::vector<std::pair<int, int>> edges;
  edges.reserve(graph.num_edges());
  for (const Edge* edge : graph.edges()) {
    if (!edge->src()->IsOp() || !edge->dst()->IsOp() || edge->src()->IsNextIteration()) continue;
    edges.emplace_back(edge->src()->id(), edge->dst()->id());
  }
  int size = nodes;
  if (HasLoops(graph)) {
    std::vector<tensorflow::ControlFlowInfo> info;
    TF_RETURN_IF_ERROR(tensorflow::BuildControlFlowInfo(&graph, &info));
    std::map<std::string, int> frames;
    result.frames_.assign(nodes, 0);
    for (const Node* node : graph.op_nodes()) {
      const std::string& name = info[node->id()].frame_name;
      if (name.empty()) continue;
      const int frame = frames.emplace(name, static_cast<int>(frames.size()) + 1).first->second;
      result.frames_[node->id()] = frame;
      const int vertex = nodes + frame - 1;
      if (node->IsEnter()) edges.emplace_back(node->id(), vertex);
      if (node->IsExit()) edges.emplace_back(vertex, node->id());
    }
    size += static_cast<int>(frames.size());
  }
  result.starts_.assign(size + 1, 0);
  for (const auto& [from, to] : edges) ++result.starts_[from + 1];
  for (int i = 0; i < size; ++i) result.starts_[i + 1] += result.starts_[i];
  result.targets_.resize(edges.size());
  std::vector<int> next(result.starts_.begin(), result.starts_.end() - 1);
  for (const auto& [from, to] : edges) result.targets_[next[from]++] = to;
  TF_RETURN_IF_ERROR(result.SortTopologically(graph));
  return result;
}

absl::Status OrderGraph::SortTopologically(const tensorflow::Graph& graph) {
  std::vector<int> waits(size(), 0);
  for (const int target : targets_) ++waits[target];
  order_.reserve(size());
  for (int v = 0; v < size(); ++v) {
    if (waits[v] == 0) order_.push_back(v);
  }
  for (size_t done = 0; done < order_.size(); ++done) {
    for (const int target : Successors(order_[done])) {
      if (--waits[target] == 0) order_.push_back(target);
    }
  }
  if (static_cast<int>(order_.size()) == size()) return absl::OkStatus();
  int waiting = 0;
  while (waiting < graph.num_node_ids() && waits[waiting] == 0) ++waiting;
  const Node* node = waiting < graph.num_node_ids() ? graph.FindNodeId(waiting) : nullptr;
  return tensorflow::errors::InvalidArgument(
      "invalid graph: it has a cycle that is not a while loop; ", size() - static_cast<int>(order_.size()),
      " nodes are in the cycle or after the cycle, such as ",
      node == nullptr ? std::string("a loop frame") : node->name(), "; build loops with tf.while_loop");
}

}  // namespace hpu::passes
