#include "plugin/backends/common/acquire_options.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/base/cards/cards.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/status_macros.h"

namespace hpu::common {

absl::StatusOr<int> ModuleCountSetting() {
  const int64_t count = cards::Modules();
  if (count < 1 || count > kMaxModules) {
    return absl::InvalidArgumentError(absl::StrCat("HPU_MODULES=", count, " is not between 1 and ", kMaxModules));
  }
  return static_cast<int>(count);
}

absl::StatusOr<Modules> EmulatedModules() {
  HPU_ASSIGN_OR_RETURN(const int count, ModuleCountSetting());
  Modules modules;
  for (int id = 0; id < count; ++id) modules.ids.push_back(id);
  modules.kind = "emulated HPU module";
  modules.lock_name = "module";
  modules.setting = absl::StrCat("HPU_MODULES=", count);
  modules.remedy_of_shortage = "raise HPU_MODULES";
  return modules;
}

absl::StatusOr<std::vector<int>> CandidateModules(const hal::AcquireOptions& options, const Modules& modules) {
  const auto exists = [&](int id) { return absl::c_linear_search(modules.ids, id); };
  std::vector<int> candidates = options.visible.empty() ? modules.ids : options.visible;
  if (options.module_id.has_value()) {
    if (!absl::c_linear_search(candidates, *options.module_id) && exists(*options.module_id)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "HLS_MODULE_ID=", *options.module_id, " is not among HABANA_VISIBLE_MODULES=", absl::StrJoin(candidates, ","),
          ": correct or unset one of them"));
    }
    candidates = {*options.module_id};
  }
  for (const int id : candidates) {
    if (!exists(id)) {
      const char* const setting = options.module_id.has_value() ? "HLS_MODULE_ID" : "HABANA_VISIBLE_MODULES";
      const bool is_range = modules.ids.back() == static_cast<int>(modules.ids.size()) - 1 && modules.ids.size() > 1;
      return absl::InvalidArgumentError(
          absl::StrCat(setting, ": module ", id, " does not exist; existing modules: ",
                       is_range ? absl::StrCat("0 to ", modules.ids.back()) : absl::StrJoin(modules.ids, ", "), " (",
                       modules.setting, "); correct or unset ", setting));
    }
  }
  return candidates;
}

absl::StatusOr<uint64_t> DeviceMemoryBytes(const hal::AcquireOptions& options) {
  constexpr int64_t kMaxMb = int64_t{1} << 25;  // 32 TiB of the 128 TiB of user address space
  const auto asked_mb = static_cast<int64_t>(options.memory_bytes >> 20);
  if (options.memory_bytes != 0 && asked_mb <= kMaxMb) return options.memory_bytes;
  const int64_t megabytes = options.memory_bytes != 0 ? asked_mb : cards::MemoryMb();
  if (megabytes < 1 || megabytes > kMaxMb) {
    return absl::InvalidArgumentError(absl::StrCat("HPU_MEMORY_MB=", megabytes, " is not between 1 and ", kMaxMb));
  }
  return static_cast<uint64_t>(megabytes) << 20;
}

absl::Status CheckEmulatedOptions(const hal::AcquireOptions& options) {
  HPU_ASSIGN_OR_RETURN(const Modules modules, EmulatedModules());
  HPU_RETURN_IF_ERROR(CandidateModules(options, modules).status());
  return DeviceMemoryBytes(options).status();
}

absl::StatusOr<uint64_t> CardMemoryBytes(const hal::AcquireOptions& options, uint64_t card_bytes) {
  if (options.memory_bytes == 0 && flags::MemoryMb() == 0) return card_bytes;
  HPU_ASSIGN_OR_RETURN(const uint64_t bytes, DeviceMemoryBytes(options));
  return std::min(bytes, card_bytes);
}

}  // namespace hpu::common
