#include "plugin/backends/gaudi/synapse/launch_table.h"

#include <algorithm>

#include "plugin/base/status_macros.h"

namespace hpu::synapse {

LaunchTable::LaunchTable(Profile profile) : profile_(profile) {
  if (profile == Profile::k1_18) entries_.emplace<std::vector<v1_18::synLaunchTensorInfo>>();
}

absl::Status LaunchTable::Append(absl::string_view name, Dimensions sizes) {
  HPU_RETURN_IF_ERROR(CheckDimensions(profile_, sizes));
  names_.emplace_back(name);
  std::visit(
      [&](auto& entries) {
        auto& entry = entries.emplace_back();  // zeroed
        entry.tensorName = names_.back().c_str();
        entry.tensorType = DATA_TENSOR;
        std::copy(sizes.begin(), sizes.end(), entry.tensorSize);
      },
      entries_);
  SetId(size() - 1, kInvalidTensorId);
  return absl::OkStatus();
}

void LaunchTable::SetAddress(size_t index, uint64_t address) {
  std::visit([&](auto& entries) { entries[index].pTensorAddress = address; }, entries_);
}

void LaunchTable::SetId(size_t index, uint64_t id) {
  if (auto* entries = std::get_if<std::vector<v1_18::synLaunchTensorInfo>>(&entries_)) (*entries)[index].tensorId = id;
}

const v1_5::synLaunchTensorInfo* LaunchTable::entries_1_5() const {
  return std::get_if<std::vector<v1_5::synLaunchTensorInfo>>(&entries_)->data();
}

const v1_18::synLaunchTensorInfo* LaunchTable::entries_1_18() const {
  return std::get_if<std::vector<v1_18::synLaunchTensorInfo>>(&entries_)->data();
}

}  // namespace hpu::synapse
