#include "plugin/passes/clustering/order_graph.h"

#include <map>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "tensorflow/core/graph/control_flow.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;

using Edges = std::vector<std::pair<int, int>>;
using Frames = std::vector<tensorflow::ControlFlowInfo>;

bool HasLoops(const Graph& graph) {
  for (const Node* node : graph.op_nodes()) {
    if (node->IsEnter()) return true;
  }
  return false;
}

// Edges between nodes, without the back edges of loops.
Edges EdgesOf(const Graph& graph) {
  Edges edges;
  edges.reserve(graph.num_edges());
  for (const Edge* edge : graph.edges()) {
    if (!edge->src()->IsOp() || !edge->dst()->IsOp() || edge->src()->IsNextIteration()) continue;
    edges.emplace_back(edge->src()->id(), edge->dst()->id());
  }
  return edges;
}

// Adds edges to an Exit node from the Enter and NextIteration nodes of its frame whose values reach it, in any
// iteration.
void AddEdgesTo(const Node& exit, const Frames& frames, Edges* edges) {
  const std::string& frame = frames[exit.id()].frame_name;
  absl::flat_hash_set<int> seen = {exit.id()};
  std::vector<const Node*> waiting = {&exit};
  while (!waiting.empty()) {
    const Node* const node = waiting.back();
    waiting.pop_back();
    const bool is_of_frame = frames[node->id()].frame_name == frame;
    if (is_of_frame && (node->IsEnter() || node->IsNextIteration())) edges->emplace_back(node->id(), exit.id());
    if (is_of_frame && node->IsEnter()) continue;
    for (const Edge* edge : node->in_edges()) {
      if (edge->src()->IsOp() && seen.insert(edge->src()->id()).second) waiting.push_back(edge->src());
    }
  }
}

}  // namespace

absl::StatusOr<OrderGraph> OrderGraph::Make(const Graph& graph) {
  OrderGraph result;
  const int nodes = graph.num_node_ids();
  Edges edges = EdgesOf(graph);
  if (!HasLoops(graph)) {
    result.SetEdges(edges, nodes);
    HPU_RETURN_IF_ERROR(result.SortTopologically(graph));
    return result;
  }
  Frames info;
  HPU_RETURN_IF_ERROR(tensorflow::BuildControlFlowInfo(&graph, &info));
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
  result.SetEdges(edges, nodes + static_cast<int>(frames.size()));
  if (result.SortTopologically(graph).ok()) return result;
  // A value from an Exit may enter the same frame: TensorFlow's gradients of version 1 loops add a counter to the loop,
  // whose initial value waits for the program's control dependencies.
  edges = EdgesOf(graph);
  for (const Node* node : graph.op_nodes()) {
    if (node->IsExit()) AddEdgesTo(*node, info, &edges);
  }
  result.SetEdges(edges, nodes);
  HPU_RETURN_IF_ERROR(result.SortTopologically(graph));
  return result;
}

void OrderGraph::SetEdges(absl::Span<const std::pair<int, int>> edges, int size) {
  starts_.assign(size + 1, 0);
  for (const auto& [from, to] : edges) ++starts_[from + 1];
  for (int i = 0; i < size; ++i) starts_[i + 1] += starts_[i];
  targets_.resize(edges.size());
  std::vector<int> next(starts_.begin(), starts_.end() - 1);
  for (const auto& [from, to] : edges) targets_[next[from]++] = to;
}

absl::Status OrderGraph::SortTopologically(const tensorflow::Graph& graph) {
  std::vector<int> waits(size(), 0);
  for (const int target : targets_) ++waits[target];
  order_.clear();
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
  return absl::InvalidArgumentError(
      absl::StrCat("invalid graph: it has a cycle that is not a while loop; ", size() - static_cast<int>(order_.size()),
                   " nodes are in the cycle or after the cycle, such as ",
                   node == nullptr ? std::string("a loop frame") : node->name(), "; build loops with tf.while_loop"));
}

}  // namespace hpu::passes
