// Tensors in device memory during a launch, from XLA's buffer assignment.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_LAUNCH_BUFFERS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_LAUNCH_BUFFERS_H_

#include <cstddef>
#include <vector>

#include "plugin/hal/recipe.h"
#include "xla/hlo/utils/hlo_live_range.h"
#include "xla/service/buffer_assignment.h"

namespace hpu::emulator {

// Limits the size of recipes.
inline constexpr size_t kMaxLaunchBuffers = 256;

// The kMaxLaunchBuffers largest tensors of a launch, largest first. Tensors that XLA computes in the same memory, such
// as the values of a loop variable, are one buffer. `ranges`: those of the values in `assignment`.
std::vector<hal::LaunchBuffer> LaunchBuffersOf(const xla::BufferAssignment& assignment,
                                               const xla::HloLiveRange& ranges);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_LAUNCH_BUFFERS_H_
