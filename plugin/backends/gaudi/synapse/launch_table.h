// LaunchTable: the persistent tensors of a recipe, with the addresses of a launch, in the layout of an ABI profile.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_LAUNCH_TABLE_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_LAUNCH_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/gaudi/synapse/profile.h"

namespace hpu::synapse {

// Each launch sets only the addresses. Not thread safe.
class LaunchTable {
 public:
  explicit LaunchTable(Profile profile);
  LaunchTable(LaunchTable&&) = default;
  LaunchTable& operator=(LaunchTable&&) = default;

  // Adds a tensor, with address 0. InvalidArgument if the profile cannot express its sizes.
  absl::Status Append(absl::string_view name, Dimensions sizes);

  // `index` counts the calls of Append.
  void SetAddress(size_t index, uint64_t address);
  void SetId(size_t index, uint64_t id);  // does nothing in profile 1.5, whose launches find tensors by name

  Profile profile() const { return profile_; }
  size_t size() const { return names_.size(); }
  const std::string& name(size_t index) const { return names_[index]; }

  // Entries for synLaunch. The table's profile must be the one in the method's name.
  const v1_5::synLaunchTensorInfo* entries_1_5() const;
  const v1_18::synLaunchTensorInfo* entries_1_18() const;

 private:
  Profile profile_;
  std::deque<std::string> names_;  // entries_ point to the names
  std::variant<std::vector<v1_5::synLaunchTensorInfo>, std::vector<v1_18::synLaunchTensorInfo>> entries_;
};

}  // namespace hpu::synapse

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_LAUNCH_TABLE_H_
