// Tensors in device memory during a launch, from XLA's buffer assignment.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_LAUNCH_BUFFERS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_LAUNCH_BUFFERS_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/hal/recipe.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Limits the size of recipes.
inline constexpr size_t kMaxLaunchBuffers = 256;

// The kMaxLaunchBuffers largest tensors of a launch of `module`, largest first. `module` is ready for code generation.
// Tensors that XLA computes in the same memory, such as the values of a loop variable, are one buffer.
absl::StatusOr<std::vector<hal::LaunchBuffer>> LaunchBuffersOf(const xla::HloModule& module);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_LAUNCH_BUFFERS_H_
