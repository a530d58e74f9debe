#include "plugin/passes/clustering/cluster_borders.h"

#include <numeric>

#include "absl/container/flat_hash_set.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/analysis/op_rules.h"

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
      refusals->push_back({node, "list-border", "shares a TensorList with ops outside the cluster"});
    }
  }
}

// Calls visit(from, to) for each edge downstream of `source` whose tensor may have an unknown size. Stops if visit
// returns false.
template <typename Visit>
void FollowSize(const Node& source, Visit visit) {
  std::vector<const Node*> work = {&source};
  absl::flat_hash_set<int> seen = {source.id()};
  while (!work.empty()) {
    const Node* node = work.back();
    work.pop_back();
    for (const Edge* edge : node->out_edges()) {
      // Result 1 of Unique has the size of the input, which is known.
      if (edge->IsControlEdge() || (node == &source && edge->src_output() != 0)) continue;
      const Node* next = edge->dst();
      if (!visit(*node, *next)) return;
      if (next->type_string() == "L2Loss" || !seen.insert(next->id()).second) continue;
      work.push_back(next);
    }
  }
}

// Whether a tensor whose size depends on `source` leaves the cluster of `source`.
bool SizeEscapes(const Node& source, const std::vector<int>& clusters) {
  bool escapes = false;
  FollowSize(source, [&](const Node&, const Node& next) {
    escapes = clusters[next.id()] != clusters[source.id()];
    return !escapes;
  });
  return escapes;
}

}  // namespace

std::vector<BorderRefusal> CheckBorders(const Graph& graph, const std::vector<int>& clusters) {
  std::vector<BorderRefusal> refusals;
  CheckLists(graph, clusters, &refusals);
  for (Node* node : graph.op_nodes()) {
    if (clusters[node->id()] < 0 || FactsOf(node->type_string()).result_size != ResultSize::kBounded) continue;
    if (SizeEscapes(*node, clusters)) {
      refusals.push_back({node, "dynamic-size", "a tensor whose size depends on values would leave the cluster"});
    }
  }
  return refusals;
}

std::vector<std::pair<int, int>> FindTies(const Graph& graph, const std::vector<int>& clusters) {
  std::vector<std::pair<int, int>> ties;
  const auto tie = [&](const Node& from, const Node& to) {
    const bool together = clusters[from.id()] >= 0 && clusters[from.id()] == clusters[to.id()];
    if (together) ties.emplace_back(from.id(), to.id());
    return together;
  };
  for (const Edge* edge : graph.edges()) {
    if (IsVariant(*edge)) tie(*edge->src(), *edge->dst());
  }
  for (const Node* node : graph.op_nodes()) {
    if (clusters[node->id()] >= 0 && FactsOf(node->type_string()).result_size == ResultSize::kBounded)
      FollowSize(*node, tie);
  }
  return ties;
}

}  // namespace hpu::passes
