// Validation of hal::AcquireOptions and the related settings.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_ACQUIRE_OPTIONS_H_
#define HPU_PLUGIN_BACKENDS_COMMON_ACQUIRE_OPTIONS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/hal/backend.h"

namespace hpu::common {

inline constexpr int kMaxModules = 64;

// Number of emulated modules, from HPU_MODULES; InvalidArgument unless 1 to kMaxModules.
absl::StatusOr<int> ModuleCountSetting();
// The modules that the options admit, in the order in which to try them; never empty. InvalidArgument for modules that
// do not exist, and for a module_id that is not visible.
absl::StatusOr<std::vector<int>> CandidateModules(const hal::AcquireOptions& options);
// Bytes of device memory that the options request; HPU_MEMORY_MB if the options contain 0.
absl::StatusOr<uint64_t> DeviceMemoryBytes(const hal::AcquireOptions& options);

}  // namespace hpu::common

#endif  // HPU_PLUGIN_BACKENDS_COMMON_ACQUIRE_OPTIONS_H_
