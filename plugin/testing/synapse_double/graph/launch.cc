#include "plugin/testing/synapse_double/graph/launch.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "plugin/testing/synapse_double/graph/execution.h"
#include "plugin/testing/synapse_double/runtime/configuration.h"
#include "plugin/testing/synapse_double/runtime/device.h"
#include "plugin/testing/synapse_double/runtime/switches.h"

namespace hpu::synapse_double {
namespace {

template <typename... Parts>
Verdict BadSection(const Parts&... parts) {
  return Violation(Rule::kLaunch, synapse::synFailedSectionValidation, parts...);
}

template <typename... Parts>
Verdict BadTensor(const Parts&... parts) {
  return Violation(Rule::kLaunch, synapse::synInvalidTensorProperties, parts...);
}

Verdict CheckArgument(const LaunchArgument& argument, const RecipeTensor& tensor) {
  if (argument.kind != tensor.kind) {
    return BadTensor("tensor ", tensor.name, ": type ", uint32_t{argument.kind}, " instead of ", uint32_t{tensor.kind});
  }
  Sizes expected = tensor.sizes;
  expected.resize(std::max(argument.sizes.size(), expected.size()));
  const bool is_unset =
      std::all_of(argument.sizes.begin(), argument.sizes.end(), [](int64_t size) { return size == 0; });
  Sizes ones = tensor.sizes;
  ones.resize(expected.size(), 1);
  if (is_unset || argument.sizes == expected || argument.sizes == ones) return {};
  return BadTensor("tensor ", tensor.name, ": sizes ", TextOf(argument.sizes), "; the recipe has ",
                   TextOf(tensor.sizes));
}

// Finds the launch tensor of each argument. Fails unless every launch tensor has exactly one argument.
Verdict MatchArguments(const Recipe& recipe, const std::vector<LaunchArgument>& arguments, bool by_name,
                       std::vector<const LaunchArgument*>* matched) {
  matched->assign(recipe.data().launch_tensors.size(), nullptr);
  for (const LaunchArgument& argument : arguments) {
    if (!by_name && argument.id == synapse::kInvalidTensorId) continue;
    const int32_t i = by_name ? recipe.LaunchTensorOfName(argument.name) : recipe.LaunchTensorOfId(argument.id);
    if (i == kNoIndex) {
      return by_name ? BadTensor("no persistent tensor ", argument.name, " in the recipe")
                     : BadTensor("no tensor of id ", Hex(argument.id),
                                 " in the recipe; retrieve the ids for each recipe handle");
    }
    const RecipeTensor& tensor = recipe.LaunchTensor(i);
    if ((*matched)[i] != nullptr) return BadTensor("tensor ", tensor.name, " is given twice");
    if (Verdict verdict = CheckArgument(argument, tensor); !verdict.ok()) return verdict;
    (*matched)[i] = &argument;
  }
  for (size_t i = 0; i < matched->size(); ++i) {
    if ((*matched)[i] == nullptr) return BadTensor("tensor ", recipe.LaunchTensor(i).name, " is missing");
  }
  return {};
}

// Computes the address of each section from its tensors' addresses.
Verdict FindSections(const Recipe& recipe, const std::vector<const LaunchArgument*>& matched,
                     std::vector<uint64_t>* sections) {
  const size_t count = recipe.data().sections.size();
  std::vector<std::optional<uint64_t>> found(count);
  std::vector<const RecipeTensor*> without(count);
  for (size_t i = 0; i < matched.size(); ++i) {
    const RecipeTensor& tensor = recipe.LaunchTensor(i);
    const uint64_t address = matched[i]->address;
    if (address == 0) {
      if (tensor.bytes > 0) without[tensor.section] = &tensor;
      continue;
    }
    if (address < tensor.offset) {
      return BadSection("tensor ", tensor.name, ": address ", Hex(address), " is below its offset ", tensor.offset);
    }
    const uint64_t begin = address - tensor.offset;
    std::optional<uint64_t>& section = found[tensor.section];
    if (section && *section != begin) {
      return BadSection("tensor ", tensor.name, ": its section begins at ", Hex(begin), " by this address, and at ",
                        Hex(*section), " by another tensor's");
    }
    section = begin;
  }
  sections->clear();
  for (size_t i = 0; i < count; ++i) {
    if (!found[i] && without[i] != nullptr) return BadSection("tensor ", without[i]->name, ": address 0");
    sections->push_back(found[i].value_or(0));
  }
  return {};
}

struct Range {
  uint64_t begin;
  uint64_t bytes;
  std::string name;
};

// Checks the ranges and holds their allocations.
Verdict CheckRanges(std::vector<Range> ranges, std::vector<std::shared_ptr<Allocation>>* memory) {
  for (const Range& range : ranges) {
    if (range.begin % kAddressAlignment != 0) {
      return BadSection(range.name, ": address ", Hex(range.begin), " is not aligned to ", kAddressAlignment);
    }
    memory->push_back(HoldDeviceRange(range.begin, range.bytes));
    if (memory->back() == nullptr) {
      return BadSection(range.name, ": ", range.bytes, " bytes at ", Hex(range.begin),
                        " are not inside one allocation");
    }
  }
  if (!IsConfigured(kSectionOverlapCheck)) return {};
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  for (size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].begin >= ranges[i - 1].begin + ranges[i - 1].bytes) continue;
    return BadSection(ranges[i].name, " at ", Hex(ranges[i].begin), " overlaps ", ranges[i - 1].name, " at ",
                      Hex(ranges[i - 1].begin));
  }
  return {};
}

// Name of a section in the log, from its first tensor.
std::string SectionName(const RecipeData& data, size_t section) {
  for (const int32_t i : data.launch_tensors) {
    if (data.tensors[i].section == static_cast<int32_t>(section)) return Text("section of ", data.tensors[i].name);
  }
  return Text("section ", section);
}

std::vector<Range> RangesOf(const RecipeData& data, const LaunchAddresses& addresses) {
  std::vector<Range> ranges;
  for (size_t i = 0; i < data.sections.size(); ++i) {
    if (data.sections[i].bytes > 0)
      ranges.push_back({addresses.sections[i], data.sections[i].bytes, SectionName(data, i)});
  }
  if (data.workspace_bytes > 0) ranges.push_back({addresses.workspace, data.workspace_bytes, "workspace"});
  return ranges;
}

// Differs for each launch of the process.
uint64_t LaunchSeed() {
  static std::atomic<uint64_t> launches{0};
  return GetSwitches().seed * 0x9E3779B97F4A7C15 + launches++;
}

}  // namespace

Verdict CheckLaunch(const Recipe& recipe, const std::vector<LaunchArgument>& arguments, bool by_name,
                    uint64_t workspace, LaunchAddresses* addresses) {
  std::vector<const LaunchArgument*> matched;
  if (Verdict verdict = MatchArguments(recipe, arguments, by_name, &matched); !verdict.ok()) return verdict;
  if (Verdict verdict = FindSections(recipe, matched, &addresses->sections); !verdict.ok()) return verdict;
  addresses->workspace = workspace;
  return CheckRanges(RangesOf(recipe.data(), *addresses), &addresses->memory);
}

Stream::Command LaunchCommand(std::shared_ptr<Recipe> recipe, LaunchAddresses addresses) {
  return [recipe = HoldInFlight(std::move(recipe)), addresses = std::move(addresses), seed = LaunchSeed()] {
    const RecipeData& data = recipe->data();
    ExecutionMemory host;
    for (size_t i = 0; i < data.sections.size(); ++i) {
      host.sections.push_back(static_cast<char*>(Resolve(addresses.sections[i], data.sections[i].bytes)));
    }
    host.workspace = static_cast<char*>(Resolve(addresses.workspace, data.workspace_bytes));
    return Report(Execute(data, host, seed));
  };
}

}  // namespace hpu::synapse_double
