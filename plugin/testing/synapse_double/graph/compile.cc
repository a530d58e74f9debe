#include "plugin/testing/synapse_double/graph/compile.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

#include "plugin/testing/synapse_double/graph/node_order.h"
#include "plugin/testing/synapse_double/graph/size_registers.h"
#include "plugin/testing/synapse_double/kernels/registry.h"
#include "plugin/testing/synapse_double/runtime/device_memory.h"

namespace hpu::synapse_double {
namespace {

uint64_t Align(uint64_t bytes) { return (bytes + kAddressAlignment - 1) / kAddressAlignment * kAddressAlignment; }

// Assigns tensors to memory.
class Placement {
 public:
  explicit Placement(RecipeData* recipe) : recipe_(recipe) {}

  void Assign(const Tensor& tensor, RecipeTensor* placed) {
    if (tensor.is_shape()) return;
    placed->bytes = BytesOf(tensor);
    if (tensor.is_persistent()) {
      PlacePersistent(tensor, placed);
    } else if (tensor.host) {
      placed->place = Place::kConstant;
      placed->offset = Grow(&recipe_->constants, placed->bytes);
      std::memcpy(recipe_->constants.data() + placed->offset, tensor.host->bytes(), placed->bytes);
    } else {
      placed->place = Place::kWorkspace;
      placed->offset = tensor.section == nullptr ? GrowWorkspace(placed->bytes)
                                                 : workspace_sections_.at(tensor.section) + tensor.offset;
    }
  }

  // Reserves workspace for the sections that are not persistent. Ignores tensors without a node: their properties were
  // never checked.
  void ReserveSections(const Graph& graph, const NodeOrder& order) {
    std::map<const Section*, uint64_t> bytes;
    for (const auto& tensor : graph.tensors()) {
      if (tensor->section == nullptr || tensor->is_persistent() || tensor->host || !order.IsUsed(*tensor)) continue;
      if (tensor->is_shape()) continue;
      uint64_t& end = bytes[tensor->section];
      end = std::max(end, tensor->offset + BytesOf(*tensor));
    }
    // In the order of creation, so that equal graphs make equal recipes.
    for (const auto& section : graph.sections()) {
      if (bytes.count(section.get()) > 0) workspace_sections_[section.get()] = GrowWorkspace(bytes[section.get()]);
    }
  }

 private:
  static uint64_t Grow(std::vector<char>* data, uint64_t bytes) {
    const uint64_t offset = Align(data->size());
    data->resize(offset + bytes);
    return offset;
  }

  uint64_t GrowWorkspace(uint64_t bytes) {
    const uint64_t offset = recipe_->workspace_bytes;
    recipe_->workspace_bytes += Align(bytes);
    return offset;
  }

  void PlacePersistent(const Tensor& tensor, RecipeTensor* placed) {
    const auto [found, is_new] = persistent_.emplace(tensor.section, recipe_->sections.size());
    if (is_new) {
      RecipeSection section;
      section.group = tensor.section->group;
      section.is_constant = tensor.section->constant;
      recipe_->sections.push_back(std::move(section));
    }
    RecipeSection& section = recipe_->sections[found->second];
    placed->place = Place::kPersistent;
    placed->section = static_cast<int32_t>(found->second);
    placed->offset = tensor.offset;
    section.bytes = std::max(section.bytes, tensor.offset + placed->bytes);
    if (!tensor.host) return;
    section.data.resize(section.bytes);
    std::memcpy(section.data.data() + tensor.offset, tensor.host->bytes(), placed->bytes);
  }

  RecipeData* const recipe_;
  std::unordered_map<const Section*, size_t> persistent_;
  std::unordered_map<const Section*, uint64_t> workspace_sections_;
};

Verdict CheckKernels(const Graph& graph) {
  const auto& kernels = KernelRegistry::Get().entries();
  for (const auto& node : graph.nodes()) {
    if (kernels.count(ParseGuid(node->guid).stem) == 0) return NotModelled(node->Describe(), ": no kernel computes it");
  }
  return {};
}

std::vector<int32_t> IndicesOf(const std::vector<Tensor*>& tensors,
                               const std::unordered_map<const Tensor*, int32_t>& indices) {
  std::vector<int32_t> found;
  for (const Tensor* tensor : tensors) found.push_back(tensor == nullptr ? kNoIndex : indices.at(tensor));
  return found;
}

void AddTensors(const Graph& graph, const NodeOrder& order, RecipeData* recipe,
                std::unordered_map<const Tensor*, int32_t>* indices) {
  Placement placement(recipe);
  placement.ReserveSections(graph, order);
  for (const auto& tensor : graph.tensors()) {
    if (!order.IsUsed(*tensor)) continue;
    const auto index = static_cast<int32_t>(recipe->tensors.size());
    RecipeTensor added;
    added.name = tensor->name;
    added.kind = tensor->kind;
    added.type = tensor->type;
    added.sizes = tensor->sizes;
    added.permutation = tensor->permutation;
    added.is_input = !order.IsWritten(*tensor);
    added.is_external = tensor->external;
    placement.Assign(*tensor, &added);
    if (added.place == Place::kPersistent) recipe->launch_tensors.push_back(index);
    recipe->tensors.push_back(std::move(added));
    indices->emplace(tensor.get(), index);
  }
}

void AddNodes(const Graph& graph, const NodeOrder& order, const std::unordered_map<const Tensor*, int32_t>& indices,
              RecipeData* recipe) {
  std::vector<int32_t> position(graph.nodes().size());
  for (const size_t i : order.sorted()) {
    const Node& node = *graph.nodes()[i];
    position[i] = static_cast<int32_t>(recipe->nodes.size());
    RecipeNode added;
    added.guid = node.guid;
    added.name = node.name;
    added.inputs = IndicesOf(node.inputs, indices);
    added.outputs = IndicesOf(node.outputs, indices);
    added.params = node.params;
    added.deterministic = node.deterministic;
    added.rounding = node.rounding;
    for (const size_t earlier : order.before(i)) added.before.push_back(position[earlier]);
    recipe->nodes.push_back(std::move(added));
  }
}

}  // namespace

Verdict Compile(const Graph& graph, const std::string& name, RecipeData* recipe) {
  NodeOrder order;
  if (Verdict verdict = graph.CheckNodes(); !verdict.ok()) return verdict;
  if (Verdict verdict = NodeOrder::Create(graph, &order); !verdict.ok()) return verdict;
  if (Verdict verdict = order.CheckOverlaps(); !verdict.ok()) return verdict;
  for (const auto& node : graph.nodes()) {
    if (Verdict verdict = CheckSizeRegisters(*node, graph.generation()); !verdict.ok()) return verdict;
  }
  if (Verdict verdict = CheckKernels(graph); !verdict.ok()) return verdict;
  recipe->name = name;
  recipe->generation = graph.generation();
  std::unordered_map<const Tensor*, int32_t> indices;
  AddTensors(graph, order, recipe, &indices);
  AddNodes(graph, order, indices, recipe);
  return {};
}

}  // namespace hpu::synapse_double
