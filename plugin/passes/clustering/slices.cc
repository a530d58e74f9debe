#include "plugin/passes/clustering/slices.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"

namespace hpu::passes {
namespace {

using tensorflow::Node;

// For each position in `nodes`, the number of ties that a cut before this position would separate.
std::vector<int> CountTies(const std::vector<Node*>& nodes, const std::vector<std::pair<int, int>>& ties) {
  std::vector<int> parted(nodes.size() + 1, 0);
  if (ties.empty()) return parted;
  absl::flat_hash_map<int, size_t> places;
  for (size_t i = 0; i < nodes.size(); ++i) places[nodes[i]->id()] = i;
  for (const auto& [a, b] : ties) {
    const auto first = places.find(a);
    const auto second = places.find(b);
    if (first == places.end() || second == places.end()) continue;
    ++parted[std::min(first->second, second->second) + 1];
    --parted[std::max(first->second, second->second) + 1];
  }
  for (size_t i = 1; i < parted.size(); ++i) parted[i] += parted[i - 1];
  return parted;
}

}  // namespace

std::vector<std::vector<Node*>> Slice(const std::vector<Node*>& nodes, size_t largest,
                                      const std::vector<std::pair<int, int>>& ties) {
  const std::vector<int> parted = CountTies(nodes, ties);
  std::vector<std::vector<Node*>> slices;
  for (size_t begin = 0, end = 0; begin < nodes.size(); begin = end) {
    const size_t wanted = std::min(nodes.size(), begin + largest);
    for (end = wanted; end > begin && parted[end] > 0;) --end;
    if (end == begin) {
      for (end = wanted; parted[end] > 0;) ++end;
    }
    slices.emplace_back(nodes.begin() + begin, nodes.begin() + end);
  }
  return slices;
}

}  // namespace hpu::passes
