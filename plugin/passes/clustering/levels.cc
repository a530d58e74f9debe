#include "plugin/passes/clustering/levels.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "xla/service/graphcycles/graphcycles.h"

namespace hpu::passes {
namespace {

void RaiseAbovePredecessors(const OrderGraph& order, const std::vector<int>& classes, std::vector<int>* levels) {
  for (const int v : order.TopologicalOrder()) {
    for (const int next : order.Successors(v)) {
      const bool enters = classes[next] != kNoClass && classes[next] != classes[v];
      (*levels)[next] = std::max((*levels)[next], (*levels)[v] + (enters ? 1 : 0));
    }
  }
}

// Raises vertices to the level of their consumers in the same class, if all edges allow this level.
void RaiseToConsumers(const OrderGraph& order, const std::vector<int>& classes, std::vector<int>* levels) {
  for (auto it = order.TopologicalOrder().rbegin(); it != order.TopologicalOrder().rend(); ++it) {
    const int v = *it;
    if (classes[v] == kNoClass) continue;
    int highest = std::numeric_limits<int>::max();   // highest level that the successors allow
    int consumer = std::numeric_limits<int>::max();  // lowest level of a successor in the same class
    for (const int next : order.Successors(v)) {
      const bool enters = classes[next] != kNoClass && classes[next] != classes[v];
      highest = std::min(highest, (*levels)[next] - (enters ? 1 : 0));
      if (classes[next] == classes[v]) consumer = std::min(consumer, (*levels)[next]);
    }
    if (consumer <= highest && consumer != std::numeric_limits<int>::max()) (*levels)[v] = consumer;
  }
}

// Quotient graph: one vertex for each cluster and for each unclustered vertex, numbered topologically.
class Quotient {
 public:
  Quotient(const OrderGraph& order, const std::vector<int>& groups, const std::vector<int>& levels, int num_groups);

  // Merges groups a and b. Returns false if a path between a and b through other vertices prevents it.
  bool Merge(int a, int b);

 private:
  int Root(int group) {
    while (merged_[group] != group) group = merged_[group];
    return group;
  }

  xla::GraphCycles cycles_;
  std::vector<int> ids_;     // by group: the id in cycles_
  std::vector<int> merged_;  // by group: the group into which it was merged
};

Quotient::Quotient(const OrderGraph& order, const std::vector<int>& groups, const std::vector<int>& levels,
                   int num_groups)
    : ids_(num_groups, -1), merged_(num_groups) {
  for (int g = 0; g < num_groups; ++g) merged_[g] = g;
  // Groups precede single vertices, because edges within a level lead only from groups to single vertices.
  std::vector<std::pair<int, int>> sequence;  // (2 * level + single, position)
  const std::vector<int>& topological = order.TopologicalOrder();
  std::vector<bool> seen(num_groups, false);
  for (int i = 0; i < static_cast<int>(topological.size()); ++i) {
    const int v = topological[i];
    if (groups[v] >= 0) {
      if (seen[groups[v]]) continue;
      seen[groups[v]] = true;
    }
    sequence.emplace_back(2 * levels[v] + (groups[v] >= 0 ? 0 : 1), i);
  }
  std::sort(sequence.begin(), sequence.end());
  std::vector<int> vertex_ids(order.size(), -1);
  for (const auto& [key, position] : sequence) {
    const int v = topological[position];
    const int id = cycles_.NewNode();
    (groups[v] >= 0 ? ids_[groups[v]] : vertex_ids[v]) = id;
  }
  for (const int v : topological) {
    const int from = groups[v] >= 0 ? ids_[groups[v]] : vertex_ids[v];
    for (const int next : order.Successors(v)) {
      const int to = groups[next] >= 0 ? ids_[groups[next]] : vertex_ids[next];
      if (from != to) cycles_.InsertEdge(from, to);
    }
  }
}

bool Quotient::Merge(int a, int b) {
  a = Root(a);
  b = Root(b);
  if (a == b) return true;
  const bool added = !cycles_.HasEdge(ids_[a], ids_[b]);
  if (added && !cycles_.InsertEdge(ids_[a], ids_[b])) return false;
  const std::optional<int32_t> id = cycles_.ContractEdge(ids_[a], ids_[b]);
  if (!id.has_value()) {
    if (added) cycles_.RemoveEdge(ids_[a], ids_[b]);
    return false;
  }
  merged_[b] = a;
  ids_[a] = *id;
  return true;
}

}  // namespace

std::vector<int> AssignLevels(const OrderGraph& order, const std::vector<int>& classes) {
  // Unclustered vertices start at level -1, so that a cluster after them starts at level 0.
  std::vector<int> levels(order.size(), -1);
  for (int v = 0; v < order.size(); ++v) {
    if (classes[v] != kNoClass) levels[v] = 0;
  }
  RaiseAbovePredecessors(order, classes, &levels);
  RaiseToConsumers(order, classes, &levels);
  return levels;
}

std::vector<int> MergeLevels(const OrderGraph& order, const std::vector<int>& classes, const std::vector<int>& levels) {
  std::map<std::pair<int, int>, int> numbers;  // group of each (class, level)
  std::vector<int> groups(order.size(), -1);
  for (const int v : order.TopologicalOrder()) {
    if (classes[v] == kNoClass) continue;
    groups[v] = numbers.emplace(std::pair(classes[v], levels[v]), static_cast<int>(numbers.size())).first->second;
  }
  std::vector<int> final_group(numbers.size());
  for (size_t g = 0; g < numbers.size(); ++g) final_group[g] = static_cast<int>(g);
  std::map<int, int> class_sizes;
  for (const auto& [key, group] : numbers) ++class_sizes[key.first];
  const bool any = std::any_of(class_sizes.begin(), class_sizes.end(), [](const auto& s) { return s.second > 1; });
  if (any) {
    Quotient quotient(order, groups, levels, static_cast<int>(numbers.size()));
    int last_class = kNoClass;
    int last_group = -1;
    for (const auto& [key, group] : numbers) {  // by class, then by level
      if (key.first == last_class && quotient.Merge(last_group, group)) {
        final_group[group] = final_group[last_group];
      }
      last_class = key.first;
      last_group = group;
    }
  }
  for (int& group : groups) {
    if (group >= 0) group = final_group[group];
  }
  return groups;
}

}  // namespace hpu::passes
