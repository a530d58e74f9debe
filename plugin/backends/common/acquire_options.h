// Validation of hal::AcquireOptions and the related settings.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_ACQUIRE_OPTIONS_H_
#define HPU_PLUGIN_BACKENDS_COMMON_ACQUIRE_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/hal/backend.h"

namespace hpu::common {

inline constexpr int kMaxModules = 64;

// A backend's modules on this machine, and the words for them in error texts.
struct Modules {
  std::vector<int> ids;            // in the order in which to try them
  std::string kind;                // for example "emulated HPU module"
  std::string lock_name;           // a module's lock file is named <lock_name>-<id>
  std::string setting;             // setting that determines the ids, for example "HPU_MODULES=8"
  std::string remedy_of_shortage;  // for example "raise HPU_MODULES"
};

// Number of emulated modules: HPU_MODULES, or the modules of the card's server. Fails with InvalidArgument unless 1 to
// kMaxModules.
absl::StatusOr<int> ModuleCountSetting();
// Modules 0 to ModuleCountSetting() - 1 of an emulated backend. An emulated module consists of its lock file only.
absl::StatusOr<Modules> EmulatedModules();
// The modules that the options select, in the order in which to try them; never empty. Fails with InvalidArgument for a
// module that does not exist and for a module_id that is not visible.
absl::StatusOr<std::vector<int>> CandidateModules(const hal::AcquireOptions& options, const Modules& modules);
// Rejects options that an emulated device never accepts: a module that does not exist, or too much memory.
absl::Status CheckEmulatedOptions(const hal::AcquireOptions& options);
// Bytes of device memory that the options request. If options.memory_bytes is 0: HPU_MEMORY_MB, or the card's memory.
absl::StatusOr<uint64_t> DeviceMemoryBytes(const hal::AcquireOptions& options);
// Number of bytes to use on a card with `card_bytes` bytes: all, unless the options or HPU_MEMORY_MB request less.
absl::StatusOr<uint64_t> CardMemoryBytes(const hal::AcquireOptions& options, uint64_t card_bytes);

}  // namespace hpu::common

#endif  // HPU_PLUGIN_BACKENDS_COMMON_ACQUIRE_OPTIONS_H_
