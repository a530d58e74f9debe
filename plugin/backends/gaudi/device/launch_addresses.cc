#include "plugin/backends/gaudi/device/launch_addresses.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/hal/types.h"

namespace hpu::gaudi {
namespace {

std::string Describe(const LaunchTensor& tensor) {
  return absl::StrCat(tensor.is_argument ? "argument " : "result ", tensor.number, " (", tensor.bytes, " bytes)");
}

// Whether one tensor is a result in the memory of the other one.
bool AreAliases(const GaudiRecipe& recipe, const LaunchTensor& a, const LaunchTensor& b) {
  if (a.is_argument == b.is_argument) return false;
  const LaunchTensor& argument = a.is_argument ? a : b;
  const LaunchTensor& result = a.is_argument ? b : a;
  return recipe.results()[result.number].aliased_argument == argument.number;
}

}  // namespace

absl::Status LaunchAddresses::Set(const GaudiRecipe& recipe, const hal::LaunchArguments& launch) {
  const std::vector<LaunchTensor>& tensors = recipe.graph()->tensors();
  addresses_.clear();
  sections_.clear();
  copies_.clear();
  copied_.clear();
  copied_bytes_ = 0;
  bool is_sorted = true;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const LaunchTensor& tensor = tensors[i];
    const hal::DeviceAddress address =
        tensor.is_argument ? launch.arguments[tensor.number] : launch.results[tensor.number];
    addresses_.push_back(address);
    is_sorted &= sections_.empty() || sections_.back().begin <= address;
    sections_.push_back({address, tensor.bytes, i, recipe.Writes(tensor)});
  }
  if (!is_sorted) {
    std::sort(sections_.begin(), sections_.end(), [](const Section& a, const Section& b) { return a.begin < b.begin; });
  }
  return CopyRefused(recipe);
}

absl::Status LaunchAddresses::CopyRefused(const GaudiRecipe& recipe) {
  const Section* kept = nullptr;
  for (const Section& section : sections_) {
    if (section.begin % hal::kDeviceAlignment != 0) {
      HPU_RETURN_IF_ERROR(AddCopy(recipe, section, "is not aligned to 128 bytes"));
      continue;
    }
    if (kept != nullptr && section.begin < kept->begin + kept->bytes) {
      if (AreAliases(recipe, recipe.graph()->tensors()[kept->tensor], recipe.graph()->tensors()[section.tensor]))
        continue;
      // Copies one that is only read. The other one keeps its memory.
      if (!section.is_written) {
        HPU_RETURN_IF_ERROR(AddCopy(recipe, section, "overlaps another one"));
        continue;
      }
      HPU_RETURN_IF_ERROR(AddCopy(recipe, *kept, "overlaps another one"));
    }
    kept = &section;
  }
  return absl::OkStatus();
}

absl::Status LaunchAddresses::AddCopy(const GaudiRecipe& recipe, const Section& section, const char* reason) {
  const LaunchTensor& tensor = recipe.graph()->tensors()[section.tensor];
  if (section.is_written) {
    return absl::InvalidArgumentError(absl::StrCat("launch of ", recipe.name(), ": the memory of ", Describe(tensor),
                                                   " ", reason, ", and the recipe writes it"));
  }
  copies_.push_back({section.begin, copied_bytes_, section.bytes});
  copied_.push_back(section.tensor);
  copied_bytes_ += (section.bytes + hal::kDeviceAlignment - 1) / hal::kDeviceAlignment * hal::kDeviceAlignment;
  return absl::OkStatus();
}

void LaunchAddresses::ToCard(uint64_t distance) {
  for (hal::DeviceAddress& address : addresses_) address += distance;
}

void LaunchAddresses::PlaceCopies(uint64_t memory) {
  for (size_t i = 0; i < copies_.size(); ++i) addresses_[copied_[i]] = memory + copies_[i].offset;
}

}  // namespace hpu::gaudi
