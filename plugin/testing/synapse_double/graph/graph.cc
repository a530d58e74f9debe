#include "plugin/testing/synapse_double/graph/graph.h"

#include <strings.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <utility>

#include "plugin/testing/synapse_double/runtime/release.h"
#include "plugin/testing/synapse_double/runtime/switches.h"

namespace hpu::synapse_double {
namespace {

using synapse::synInvalidArgument;
using synapse::synNodeId;

// Ids are unique in the process, so an id of another graph's node is detected.
synNodeId NextNodeId() {
  static std::atomic<synNodeId> next{1};
  return next++;
}

// Accepts the words for "true" of plugin/base/flags/parse.h.
bool AllowsUnprovenGuids() {
  const char* value = std::getenv("HPU_GAUDI_UNPROVEN");
  if (value == nullptr) return false;
  for (const char* word : {"1", "true", "yes", "on"}) {
    if (strcasecmp(value, word) == 0) return true;
  }
  return false;
}

// Calls visit(tensor) for the operands and results that are present.
template <typename Visit>
void ForEachTensor(const Node& node, const Visit& visit) {
  for (const auto* tensors : {&node.inputs, &node.outputs}) {
    for (Tensor* tensor : *tensors) {
      if (tensor != nullptr) visit(*tensor);
    }
  }
}

}  // namespace

NodeContext Graph::Context() const {
  const synapse::Profile profile = ThisRelease().number == 5 ? synapse::Profile::k1_5 : synapse::Profile::k1_18;
  return {generation_, profile, is_inference_, GetSwitches().complex_guids, AllowsUnprovenGuids()};
}

std::shared_ptr<Section> Graph::AddSection() {
  auto section = std::make_shared<Section>();
  section->graph = this;
  sections_.push_back(section);
  return section;
}

Verdict Graph::AddTensor(synapse::synTensorType kind, const std::string& name, std::shared_ptr<Tensor>* tensor) {
  if (const auto found = named_.find(name); found != named_.end()) {
    *tensor = found->second;
    return Violation(Rule::kDuplicateName, synapse::synNameIsAlreadyUsed, "tensor ", name,
                     ": the graph has a tensor of this name, which the call returns");
  }
  *tensor = std::make_shared<Tensor>();
  (*tensor)->graph = this;
  (*tensor)->kind = kind;
  (*tensor)->name = name;
  tensors_.push_back(*tensor);
  if (!name.empty()) named_.emplace(name, *tensor);
  return {};
}

Verdict Graph::RemoveTensor(const Tensor& tensor) {
  for (const auto& node : nodes_) {
    bool is_used = false;
    ForEachTensor(*node, [&](const Tensor& used) { is_used |= &used == &tensor; });
    if (!is_used) continue;
    return Violation(Rule::kLockedProperties, synapse::synObjectAlreadyInitialized, "cannot destroy tensor ",
                     tensor.Describe(), ": node ", node->Describe(), " uses it");
  }
  named_.erase(tensor.name);
  tensors_.erase(std::find_if(tensors_.begin(), tensors_.end(), [&](const auto& t) { return t.get() == &tensor; }));
  return {};
}

Verdict Graph::RemoveSection(const Section& section) {
  for (const auto& tensor : tensors_) {
    if (tensor->section != &section) continue;
    return Violation(Rule::kSections, synInvalidArgument, "cannot destroy a section: tensor ", tensor->Describe(),
                     " lies in it");
  }
  sections_.erase(std::find_if(sections_.begin(), sections_.end(), [&](const auto& s) { return s.get() == &section; }));
  return {};
}

Verdict Graph::CheckTensors(const Node& node) const {
  Verdict verdict;
  ForEachTensor(node, [&](const Tensor& tensor) {
    if (!verdict.ok()) return;
    if (tensor.graph == this) {
      verdict = tensor.CheckProperties();
    } else {
      verdict = Violation(Rule::kHandles, synInvalidArgument, node.Describe(), ": tensor ", tensor.Describe(),
                          " belongs to another graph");
    }
  });
  return verdict;
}

Verdict Graph::AddNode(Node node, synNodeId* id) {
  if (Verdict verdict = CheckTensors(node); !verdict.ok()) return verdict;
  if (Verdict verdict = CheckNode(node, Context()); !verdict.ok()) return verdict;
  ForEachTensor(node, [](Tensor& tensor) {
    tensor.locked = true;
    if (tensor.section != nullptr) tensor.section->locked = true;
  });
  node.id = NextNodeId();
  *id = node.id;
  nodes_.push_back(std::make_unique<Node>(std::move(node)));
  return {};
}

Node* Graph::FindNode(synNodeId id) {
  for (const auto& node : nodes_) {
    if (node->id == id) return node.get();
  }
  return nullptr;
}

Verdict Graph::SetParams(Node* node, std::vector<char> params) {
  Node changed = *node;
  changed.params = std::move(params);
  if (Verdict verdict = CheckNode(changed, Context()); !verdict.ok()) return verdict;
  node->params = std::move(changed.params);
  return {};
}

Verdict Graph::AddDependencies(const std::vector<synNodeId>& blocking, const std::vector<synNodeId>& blocked) {
  for (const auto* ids : {&blocking, &blocked}) {
    for (const synNodeId id : *ids) {
      if (FindNode(id) == nullptr) {
        return Violation(Rule::kHandles, synInvalidArgument, "node id ", id, ": the graph has no such node");
      }
    }
  }
  for (const synNodeId id : blocked) FindNode(id)->blocking.insert(blocking.begin(), blocking.end());
  return {};
}

Verdict Graph::CheckNodes() const {
  for (const auto& node : nodes_) {
    if (Verdict verdict = CheckTensors(*node); !verdict.ok()) return verdict;
    if (Verdict verdict = CheckNode(*node, Context()); !verdict.ok()) return verdict;
  }
  return {};
}

std::shared_ptr<Graph> Graph::Duplicate() const {
  auto copy = std::make_shared<Graph>(generation_);
  copy->is_inference_ = is_inference_;
  std::map<const Section*, Section*> sections = {{nullptr, nullptr}};
  std::map<const Tensor*, Tensor*> tensors = {{nullptr, nullptr}};
  std::map<synNodeId, synNodeId> ids;
  for (const auto& section : sections_) {
    auto added = copy->AddSection();
    *added = *section;
    added->graph = copy.get();
    added->handle = nullptr;
    sections[section.get()] = added.get();
  }
  for (const auto& tensor : tensors_) {
    auto added = std::make_shared<Tensor>(*tensor);
    added->graph = copy.get();
    added->handle = nullptr;
    added->section = sections[tensor->section];
    added->locked = false;
    if (!added->name.empty()) copy->named_.emplace(added->name, added);
    tensors[tensor.get()] = added.get();
    copy->tensors_.push_back(std::move(added));
  }
  for (const auto& node : nodes_) ids[node->id] = NextNodeId();
  for (const auto& node : nodes_) {
    auto added = std::make_unique<Node>(*node);
    added->id = ids[node->id];
    for (Tensor*& tensor : added->inputs) tensor = tensors[tensor];
    for (Tensor*& tensor : added->outputs) tensor = tensors[tensor];
    added->blocking.clear();
    for (const synNodeId id : node->blocking) added->blocking.insert(ids[id]);
    copy->nodes_.push_back(std::move(added));
  }
  return copy;
}

}  // namespace hpu::synapse_double
