// Pass that replaces custom calls of user kernels by kernel calls.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_USER_KERNEL_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_USER_KERNEL_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Replaces each custom call of kUserKernelTarget by a call of the user kernel that it names. NotFound if no loaded
// library has the kernel; Unimplemented if user kernels do not support a shape, or if the call has no operands.
absl::Status UseUserKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_USER_KERNEL_PASS_H_
