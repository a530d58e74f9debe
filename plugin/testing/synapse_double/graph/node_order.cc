#include "plugin/testing/synapse_double/graph/node_order.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace hpu::synapse_double {
namespace {

using synapse::synFail;

template <typename... Parts>
Verdict BadStructure(const Parts&... parts) {
  return Violation(Rule::kGraphStructure, synFail, parts...);
}

}  // namespace

Verdict NodeOrder::Create(const Graph& graph, NodeOrder* order) {
  order->graph_ = &graph;
  if (graph.nodes().empty()) return BadStructure("the graph has no node");
  if (Verdict verdict = order->FindWriters(); !verdict.ok()) return verdict;
  if (Verdict verdict = order->CheckInputs(); !verdict.ok()) return verdict;
  if (Verdict verdict = order->CheckUse(); !verdict.ok()) return verdict;
  order->FindEdges();
  return order->Sort();
}

Verdict NodeOrder::FindWriters() {
  const auto& nodes = graph_->nodes();
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const Tensor* tensor : nodes[i]->inputs) {
      if (tensor != nullptr) readers_[tensor].push_back(i);
    }
    for (const Tensor* tensor : nodes[i]->outputs) {
      if (tensor == nullptr) continue;
      if (tensor->host) {
        return BadStructure("node ", nodes[i]->Describe(), " writes the constant ", tensor->Describe());
      }
      const auto [writer, is_first] = writers_.emplace(tensor, i);
      if (is_first) continue;
      return BadStructure("two nodes write tensor ", tensor->Describe(), ": ", nodes[writer->second]->Describe(),
                          " and ", nodes[i]->Describe());
    }
  }
  return {};
}

Verdict NodeOrder::CheckInputs() const {
  for (const auto& node : graph_->nodes()) {
    for (const Tensor* tensor : node->inputs) {
      if (tensor == nullptr || IsWritten(*tensor) || tensor->is_persistent() || tensor->host || tensor->is_shape()) {
        continue;
      }
      return BadStructure("node ", node->Describe(), " reads tensor ", tensor->Describe(),
                          ", which is neither written by a node, nor persistent, nor constant");
    }
  }
  return {};
}

Verdict NodeOrder::CheckUse() const {
  for (const auto& tensor : graph_->tensors()) {
    if (!tensor->is_persistent() || IsUsed(*tensor)) continue;
    return BadStructure("no node reads or writes the persistent tensor ", tensor->Describe());
  }
  return {};
}

void NodeOrder::FindEdges() {
  const auto& nodes = graph_->nodes();
  std::unordered_map<synapse::synNodeId, size_t> index;
  for (size_t i = 0; i < nodes.size(); ++i) index[nodes[i]->id] = i;
  before_.resize(nodes.size());
  after_.resize(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const Tensor* tensor : nodes[i]->inputs) {
      if (tensor != nullptr && IsWritten(*tensor)) before_[i].push_back(writers_.at(tensor));
    }
    for (const synapse::synNodeId id : nodes[i]->blocking) before_[i].push_back(index.at(id));
    std::sort(before_[i].begin(), before_[i].end());
    before_[i].erase(std::unique(before_[i].begin(), before_[i].end()), before_[i].end());
    for (const size_t earlier : before_[i]) after_[earlier].push_back(i);
  }
}

Verdict NodeOrder::Sort() {
  std::vector<size_t> waits_for(before_.size());
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < before_.size(); ++i) {
    waits_for[i] = before_[i].size();
    if (waits_for[i] == 0) ready.push(i);
  }
  while (!ready.empty()) {
    const size_t node = ready.top();
    ready.pop();
    sorted_.push_back(node);
    for (const size_t next : after_[node]) {
      if (--waits_for[next] == 0) ready.push(next);
    }
  }
  if (sorted_.size() == before_.size()) return {};
  const size_t waiting =
      std::find_if(waits_for.begin(), waits_for.end(), [](size_t n) { return n > 0; }) - waits_for.begin();
  return BadStructure("the graph has a cycle, which holds up node ", graph_->nodes()[waiting]->Describe());
}

std::vector<NodeOrder::Access> NodeOrder::AccessesOf(const Tensor& tensor) const {
  std::vector<Access> accesses;
  if (const auto writer = writers_.find(&tensor); writer != writers_.end()) accesses.push_back({writer->second, true});
  if (const auto readers = readers_.find(&tensor); readers != readers_.end()) {
    for (const size_t node : readers->second) accesses.push_back({node, false});
  }
  return accesses;
}

bool NodeOrder::HasPath(size_t from, size_t to) const {
  const auto [found, is_new] = reachable_.try_emplace(from);
  std::vector<bool>& reachable = found->second;
  if (is_new) {
    reachable.resize(after_.size());
    std::vector<size_t> open = {from};
    while (!open.empty()) {
      const size_t node = open.back();
      open.pop_back();
      for (const size_t next : after_[node]) {
        if (reachable[next]) continue;
        reachable[next] = true;
        open.push_back(next);
      }
    }
  }
  return reachable[to];
}

Verdict NodeOrder::CheckPair(const Tensor& a, const Tensor& b) const {
  for (const Access& first : AccessesOf(a)) {
    for (const Access& second : AccessesOf(b)) {
      if (first.node == second.node || (!first.is_write && !second.is_write)) continue;
      if (HasPath(first.node, second.node) || HasPath(second.node, first.node)) continue;
      const auto text = [&](const Access& access, const Tensor& tensor) {
        return Text(graph_->nodes()[access.node]->Describe(), access.is_write ? " writes " : " reads ",
                    tensor.Describe());
      };
      return Violation(Rule::kMemoryOrder, synFail, "tensors ", a.Describe(), " and ", b.Describe(),
                       " share memory, but no path orders their nodes: ", text(first, a), ", ", text(second, b));
    }
  }
  return {};
}

Verdict NodeOrder::CheckOverlaps() const {
  std::map<const Section*, std::vector<const Tensor*>> by_section;
  for (const auto& tensor : graph_->tensors()) {
    if (tensor->section != nullptr && IsUsed(*tensor) && !tensor->is_shape() && BytesOf(*tensor) > 0) {
      by_section[tensor->section].push_back(tensor.get());
    }
  }
  for (auto& [section, tensors] : by_section) {
    std::stable_sort(tensors.begin(), tensors.end(),
                     [](const Tensor* a, const Tensor* b) { return a->offset < b->offset; });
    for (size_t i = 0; i < tensors.size(); ++i) {
      const uint64_t end = tensors[i]->offset + BytesOf(*tensors[i]);
      for (size_t j = i + 1; j < tensors.size() && tensors[j]->offset < end; ++j) {
        if (Verdict verdict = CheckPair(*tensors[i], *tensors[j]); !verdict.ok()) return verdict;
      }
    }
  }
  return {};
}

}  // namespace hpu::synapse_double
