// All passes that replace instructions by calls of kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_KERNEL_PASSES_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_KERNEL_PASSES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "plugin/backends/emulator/kernels/kernel.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Runs them on a program as tf2xla made it, and returns the kernels that it calls now.
// docs/developer/emulator_kernels.md says what is replaced, and why. Without `replace` only what is no code of XLA's:
// users' kernels. `choice`: of KernelCalls.
absl::StatusOr<std::vector<KernelSpec>> UseKernels(xla::HloModule* module, bool replace, KernelChoice choice);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_KERNEL_PASSES_H_
