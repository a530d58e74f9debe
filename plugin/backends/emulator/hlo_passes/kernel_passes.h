// Pipeline of the passes that replace instructions by kernel calls.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_KERNEL_PASSES_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_KERNEL_PASSES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "plugin/backends/emulator/kernels/kernel.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Runs the passes on a program that XLA's passes have not changed yet. Returns the kernels that the program calls
// afterwards. docs/developer/emulator_kernels.md lists the replacements and their reasons. Without `replace`, only
// custom calls of user kernels are replaced, because XLA has no code for them. `choice`: see KernelCalls.
absl::StatusOr<std::vector<KernelSpec>> UseKernels(xla::HloModule* module, bool replace, KernelChoice choice);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_KERNEL_PASSES_H_
