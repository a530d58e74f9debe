#include "plugin/testing/synapse_double/graph/execution.h"

#include <algorithm>
#include <cstring>
#include <list>
#include <random>
#include <utility>

#include "plugin/testing/synapse_double/graph/tensor.h"
#include "plugin/testing/synapse_double/kernels/kernel.h"
#include "plugin/testing/synapse_double/runtime/device_memory.h"
#include "plugin/testing/synapse_double/runtime/switches.h"

namespace hpu::synapse_double {
namespace {

// Fills bytes [begin, end) with kPoison. Even positions in `data` hold the first byte of kPoison.
void FillWithPoison(char* data, uint64_t begin, uint64_t end) {
  char pattern[sizeof(kPoison)];
  std::memcpy(pattern, &kPoison, sizeof(kPoison));
  const uint64_t head = std::min(end, begin + sizeof(kPoison));
  for (uint64_t i = begin; i < head; ++i) data[i] = pattern[i % sizeof(kPoison)];
  // Each copy doubles the filled part.
  for (uint64_t filled = sizeof(kPoison); begin + filled < end; filled *= 2) {
    std::memcpy(data + begin + filled, data + begin, std::min(filled, end - begin - filled));
  }
}

// Byte range of a section.
struct Extent {
  uint64_t begin;
  uint64_t end;
};

// Fills the results in a section, except for bytes that results share with inputs.
void FillResults(const RecipeData& recipe, size_t section, char* data) {
  std::vector<Extent> inputs;
  std::vector<Extent> results;
  for (const int32_t i : recipe.launch_tensors) {
    const RecipeTensor& tensor = recipe.tensors[i];
    if (tensor.section != static_cast<int32_t>(section)) continue;
    (tensor.is_input ? inputs : results).push_back({tensor.offset, tensor.offset + tensor.bytes});
  }
  std::sort(inputs.begin(), inputs.end(), [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  for (const auto& [begin, end] : results) {
    uint64_t from = begin;
    for (const Extent& input : inputs) {
      if (input.end <= from || input.begin >= end) continue;
      FillWithPoison(data, from, std::max(from, input.begin));
      from = input.end;
    }
    FillWithPoison(data, from, std::max(from, end));
  }
}

class Execution {
 public:
  Execution(const RecipeData& recipe, const ExecutionMemory& memory, uint64_t seed)
      : recipe_(recipe), memory_(memory), random_(seed) {}

  void Poison() {
    if (memory_.workspace != nullptr) FillWithPoison(memory_.workspace, 0, recipe_.workspace_bytes);
    for (size_t i = 0; i < recipe_.sections.size(); ++i) {
      if (memory_.sections[i] != nullptr) FillResults(recipe_, i, memory_.sections[i]);
    }
  }

  Verdict RunAll() {
    std::vector<size_t> waits_for(recipe_.nodes.size());
    std::vector<std::vector<size_t>> after(recipe_.nodes.size());
    std::vector<size_t> ready;
    for (size_t i = 0; i < recipe_.nodes.size(); ++i) {
      waits_for[i] = recipe_.nodes[i].before.size();
      for (const int32_t earlier : recipe_.nodes[i].before) after[earlier].push_back(i);
      if (waits_for[i] == 0) ready.push_back(i);
    }
    while (!ready.empty()) {
      std::swap(ready[random_() % ready.size()], ready.back());
      const size_t node = ready.back();
      ready.pop_back();
      if (Verdict verdict = Run(recipe_.nodes[node]); !verdict.ok()) return verdict;
      for (const size_t next : after[node]) {
        if (--waits_for[next] == 0) ready.push_back(next);
      }
    }
    return {};
  }

 private:
  char* DataOf(const RecipeTensor& tensor) const {
    static char no_bytes;  // a view without data stands for a missing operand
    if (tensor.bytes == 0) return &no_bytes;
    switch (tensor.place) {
      case Place::kPersistent:
        return memory_.sections[tensor.section] + tensor.offset;
      case Place::kWorkspace:
        return memory_.workspace + tensor.offset;
      case Place::kConstant:
        return const_cast<char*>(recipe_.constants.data()) + tensor.offset;  // kernels do not write operands
      case Place::kNone:
        break;
    }
    return nullptr;
  }

  TensorView ViewOf(int32_t index) const {
    if (index == kNoIndex || recipe_.tensors[index].place == Place::kNone) return {};
    const RecipeTensor& tensor = recipe_.tensors[index];
    return {DataOf(tensor), static_cast<ElementType>(tensor.type), tensor.sizes,
            StridesOf(tensor.sizes, tensor.permutation)};
  }

  std::vector<TensorView> ViewsOf(const std::vector<int32_t>& indices) const {
    std::vector<TensorView> views;
    for (const int32_t index : indices) views.push_back(ViewOf(index));
    // Drops missing operands and shape tensors at the end: kernels do not take them.
    while (!views.empty() && !views.back().is_present()) views.pop_back();
    return views;
  }

  // Copies operands that share memory with a result, so that a node reads them before it writes.
  void SeparateOperands(const RecipeNode& node, KernelArguments* arguments, std::list<std::vector<char>>* copies) {
    for (size_t i = 0; i < arguments->inputs.size(); ++i) {
      TensorView& input = arguments->inputs[i];
      if (!input.is_present()) continue;
      const uint64_t bytes = recipe_.tensors[node.inputs[i]].bytes;
      const char* const begin = static_cast<const char*>(input.data);
      for (const int32_t output : node.outputs) {
        if (output == kNoIndex) continue;
        const char* const written = DataOf(recipe_.tensors[output]);
        if (written + recipe_.tensors[output].bytes <= begin || begin + bytes <= written) continue;
        copies->emplace_back(begin, begin + bytes);
        input.data = copies->back().data();
        break;
      }
    }
  }

  Verdict Run(const RecipeNode& node) {
    const Switches& switches = GetSwitches();
    KernelArguments arguments;
    arguments.inputs = ViewsOf(node.inputs);
    arguments.outputs = ViewsOf(node.outputs);
    arguments.params = node.params.empty() ? nullptr : node.params.data();
    arguments.params_size = node.params.size();
    arguments.switches = {switches.flush_denormals, switches.lose_nan_in_max_min, switches.seed,
                          node.deterministic ? 0 : random_() | 1};
    std::list<std::vector<char>> copies;
    SeparateOperands(node, &arguments, &copies);
    const KernelStatus status = RunKernel(node.guid, arguments);
    if (status.ok()) return {};
    // The data is at fault, such as an index out of range; the node's results are poisoned.
    return {Rule::kArguments, synapse::synFail,
            Text("recipe ", recipe_.name, ", node ", node.name, ": ", status.text()), false};
  }

  const RecipeData& recipe_;
  const ExecutionMemory& memory_;
  std::mt19937_64 random_;
};

}  // namespace

Verdict Execute(const RecipeData& recipe, const ExecutionMemory& memory, uint64_t seed) {
  Execution execution(recipe, memory, seed);
  execution.Poison();
  return execution.RunAll();
}

}  // namespace hpu::synapse_double
