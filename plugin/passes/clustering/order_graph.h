// Execution order of a graph as arrays, for segmentation.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_ORDER_GRAPH_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_ORDER_GRAPH_H_

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// A directed acyclic graph over vertices 0 … size-1. The first vertices are the graph's nodes, by id. After them, each
// frame of a lowered loop has one vertex. Back edges of loops are omitted. Instead, all edges into a frame precede all
// edges out of the frame, because a value may pass through several iterations. If that makes a cycle, an edge out of a
// frame follows only the edges into the frame and the iterations whose values reach it, and frames have no vertices.
class OrderGraph {
 public:
  // Fails with INVALID_ARGUMENT if the graph has a cycle that is not a loop.
  static absl::StatusOr<OrderGraph> Make(const tensorflow::Graph& graph);

  int size() const { return static_cast<int>(starts_.size()) - 1; }
  absl::Span<const int> Successors(int vertex) const {
    return {targets_.data() + starts_[vertex], static_cast<size_t>(starts_[vertex + 1] - starts_[vertex])};
  }
  // All vertices in topological order. Equal graphs have equal orders.
  const std::vector<int>& TopologicalOrder() const { return order_; }

  // The frame in which a node runs; 0 for none.
  int FrameOf(int node) const { return frames_.empty() ? 0 : frames_[node]; }

 private:
  OrderGraph() = default;
  void SetEdges(absl::Span<const std::pair<int, int>> edges, int size);
  absl::Status SortTopologically(const tensorflow::Graph& graph);

  std::vector<int> starts_;  // successors of v: targets_[starts_[v] … starts_[v+1]-1]
  std::vector<int> targets_;
  std::vector<int> order_;
  std::vector<int> frames_;  // by node id; empty without loops
};

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_ORDER_GRAPH_H_
