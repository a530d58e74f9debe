#include "plugin/passes/clustering/cluster_borders.h"

#include <numeric>
#include <utility>

#include "absl/container/flat_hash_set.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;

bool IsVariant(const Edge& edge) {
  return !edge.IsControlEdge() && edge.src()->output_type(edge.src_output()) == tensorflow::DT_VARIANT;
}

// Groups of nodes that share TensorLists: a union-find over node ids.
class ListGroups {
 public:
  explicit ListGroups(const Graph& graph) : parent_(graph.num_node_ids()) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  int Find(int id) {
    while (parent_[id] != id) id = parent_[id] = parent_[parent_[id]];
    return id;
  }
  void Join(int a, int b) { parent_[Find(a)] = Find(b); }

 private:
  std::vector<int> parent_;
};

void CheckLists(const Graph& graph, const std::vector<int>& clusters, std::vector<BorderRefusal>* refusals) {
  std::vector<const Edge*> edges;
  for (const Edge* edge : graph.edges()) {
    if (IsVariant(*edge)) edges.push_back(edge);
  }
  if (edges.empty()) return;
  ListGroups groups(graph);
  for (const Edge* edge : edges) groups.Join(edge->src()->id(), edge->dst()->id());
  absl::flat_hash_set<int> broken;
  for (const Edge* edge : edges) {
    if (clusters[edge->src()->id()] < 0 || clusters[edge->src()->id()] != clusters[edge->dst()->id()]) {
      broken.insert(groups.Find(edge->src()->id()));
    }
  }
  absl::flat_hash_set<int> seen;
  for (const Edge* edge : edges) {
    if (!broken.contains(groups.Find(edge->src()->id()))) continue;
    for (Node* node : {edge->src(), edge->dst()}) {
      if (clusters[node->id()] < 0 || !seen.insert(node->id()).second) continue;
      refusals->push_back({node, Rule::kListBorder, "shares a TensorList with ops outside the cluster"});
    }
  }
}

}  // namespace

std::vector<BorderRefusal> CheckBorders(const Graph& graph, const BoundedSizes& sizes,
                                        const std::vector<int>& clusters) {
  std::vector<BorderRefusal> refusals;
  CheckLists(graph, clusters, &refusals);
  for (auto& [node, reason] : sizes.Refused(clusters))
    refusals.push_back({node, Rule::kDynamicSize, std::move(reason)});
  return refusals;
}

std::vector<std::pair<int, int>> FindTies(const Graph& graph, const BoundedSizes& sizes,
                                          const std::vector<int>& clusters) {
  std::vector<std::pair<int, int>> ties = sizes.Ties(clusters);
  for (const Edge* edge : graph.edges()) {
    const int from = edge->src()->id(), to = edge->dst()->id();
    if (IsVariant(*edge) && clusters[from] >= 0 && clusters[from] == clusters[to]) ties.emplace_back(from, to);
  }
  return ties;
}

}  // namespace hpu::passes
