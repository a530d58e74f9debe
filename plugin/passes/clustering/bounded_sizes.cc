#include "plugin/passes/clustering/bounded_sizes.h"

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "plugin/op_facts/op_facts.h"
#include "tensorflow/core/graph/algorithm.h"

namespace hpu::passes {
namespace {

using tensorflow::Edge;
using tensorflow::Graph;
using tensorflow::Node;

// Whether a tensor may contain sizes, from which ops compute tensors of these sizes.
bool MayContainSizes(tensorflow::DataType type) { return type == tensorflow::DT_INT32 || type == tensorflow::DT_INT64; }

// Why an op cannot compute with the bound of an operand, or should not.
std::optional<std::string> WhyNotWithBound(const Node& node) {
  const OpFacts& facts = FactsOf(node.type_string());
  if (facts.product) return " would compute with the largest possible size";
  if (facts.dynamic == DynamicSizes::kRefused) return " cannot compute with the largest possible size";
  return std::nullopt;
}

}  // namespace

BoundedSizes::BoundedSizes(Graph* graph) {
  for (Node* node : graph->op_nodes()) {
    if (FactsOf(node->type_string()).result_size == ResultSize::kBounded) sources_.push_back(node);
  }
  if (sources_.empty()) return;
  std::vector<Node*> downstream;
  tensorflow::DFSFrom(*graph, sources_, [&](Node* node) { downstream.push_back(node); }, nullptr);
  shapes_.emplace(graph, downstream, ShapeFormulas::Stacks::kSources);
}

template <typename Visit>
void BoundedSizes::Follow(const Node& source, const std::vector<int>& clusters, Visit visit) const {
  std::vector<const Node*> work = {&source};
  absl::flat_hash_set<int> seen = {source.id()};
  while (!work.empty()) {
    const Node* node = work.back();
    work.pop_back();
    for (const Edge* edge : node->out_edges()) {
      // Result 1 of Unique has the size of the input, which is known.
      if (edge->IsControlEdge() || (node == &source && edge->src_output() != 0)) continue;
      const Node* next = edge->dst();
      if (!shapes_->IsKnown(*node, edge->src_output())) {
        if (!visit(*edge)) return;
      } else if (!MayContainSizes(node->output_type(edge->src_output())) ||
                 clusters[next->id()] != clusters[source.id()]) {
        continue;
      }
      if (seen.insert(next->id()).second) work.push_back(next);
    }
  }
}

bool BoundedSizes::ReadsOtherSizes(const Node& reader, const std::vector<int>& clusters) const {
  return absl::c_any_of(reader.in_edges(), [&](const Edge* edge) {
    return !edge->IsControlEdge() && clusters[edge->src()->id()] != clusters[reader.id()] &&
           edge->src()->output_type(edge->src_output()) != tensorflow::DT_RESOURCE &&
           !shapes_->IsKnown(*edge->src(), edge->src_output());
  });
}

std::optional<std::string> BoundedSizes::WhyRefused(const Node& source, const std::vector<int>& clusters) const {
  std::optional<std::string> why;
  Follow(source, clusters, [&](const Edge& edge) {
    const Node& reader = *edge.dst();
    if (clusters[reader.id()] != clusters[source.id()]) {
      why = " is outside the cluster";
    } else if (ReadsOtherSizes(reader, clusters)) {
      why = " reads a tensor from outside the cluster whose size may have to be equal";
    } else {
      why = WhyNotWithBound(reader);
    }
    if (why.has_value()) {
      why = absl::StrCat("the size of ", source.type_string(), "'s result depends on values, and ", reader.name(), " (",
                         reader.type_string(), ")", *why);
    }
    return !why.has_value();
  });
  return why;
}

std::vector<std::pair<Node*, std::string>> BoundedSizes::Refused(const std::vector<int>& clusters) const {
  std::vector<std::pair<Node*, std::string>> refused;
  for (Node* source : sources_) {
    if (clusters[source->id()] < 0) continue;
    if (auto why = WhyRefused(*source, clusters)) refused.emplace_back(source, *std::move(why));
  }
  return refused;
}

std::vector<std::pair<int, int>> BoundedSizes::Ties(const std::vector<int>& clusters) const {
  std::vector<std::pair<int, int>> ties;
  for (const Node* source : sources_) {
    if (clusters[source->id()] < 0) continue;
    Follow(*source, clusters, [&](const Edge& edge) {
      const int cluster = clusters[edge.src()->id()];
      const bool together = cluster >= 0 && cluster == clusters[edge.dst()->id()];
      if (together) ties.emplace_back(edge.src()->id(), edge.dst()->id());
      return together;
    });
  }
  return ties;
}

}  // namespace hpu::passes
