#include "plugin/backends/gaudi/device/launch_addresses.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/hal/types.h"

namespace hpu::gaudi {
namespace {

constexpr char kOverlap[] = "overlaps another argument or result; pass separate memory";

std::string Describe(const ProgramMemory& memory) {
  const bool is_argument = memory.kind == ProgramMemory::Kind::kArgument;
  return absl::StrCat(is_argument ? "argument " : "result ", memory.number, " (", memory.bytes, " bytes)");
}

hal::DeviceAddress AddressOf(const ProgramMemory& memory, const hal::LaunchArguments& launch) {
  switch (memory.kind) {
    case ProgramMemory::Kind::kArgument:
      return launch.arguments[memory.number];
    case ProgramMemory::Kind::kResult:
      return launch.results[memory.number];
    case ProgramMemory::Kind::kBuffer:
      break;
  }
  return launch.workspace + memory.offset;
}

}  // namespace

absl::Status LaunchAddresses::Set(const GaudiRecipe& recipe, const hal::LaunchArguments& launch) {
  const std::vector<ProgramMemory>& memory = recipe.memory();
  addresses_.clear();
  sections_.clear();
  copies_.clear();
  copied_.clear();
  copied_bytes_ = 0;
  bool is_sorted = true;
  for (size_t i = 0; i < memory.size(); ++i) {
    const hal::DeviceAddress address = AddressOf(memory[i], launch);
    addresses_.push_back(address);
    if (memory[i].kind == ProgramMemory::Kind::kBuffer) continue;
    is_sorted &= sections_.empty() || sections_.back().begin <= address;
    sections_.push_back({address, memory[i].bytes, i, memory[i].is_written});
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
      HPU_RETURN_IF_ERROR(AddCopy(recipe, section, "is not aligned to 128 bytes; align it"));
      continue;
    }
    if (kept != nullptr && section.begin < kept->begin + kept->bytes) {
      // Copies the argument that is only read. The other section keeps its memory.
      if (!section.is_written) {
        HPU_RETURN_IF_ERROR(AddCopy(recipe, section, kOverlap));
        continue;
      }
      HPU_RETURN_IF_ERROR(AddCopy(recipe, *kept, kOverlap));
    }
    kept = &section;
  }
  return absl::OkStatus();
}

absl::Status LaunchAddresses::AddCopy(const GaudiRecipe& recipe, const Section& section, const char* reason) {
  if (section.is_written) {
    return absl::InvalidArgumentError(absl::StrCat("launch of ", recipe.name(), ": the recipe writes to ",
                                                   Describe(recipe.memory()[section.memory]), ", whose memory ",
                                                   reason));
  }
  copies_.push_back({section.begin, copied_bytes_, section.bytes});
  copied_.push_back(section.memory);
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
