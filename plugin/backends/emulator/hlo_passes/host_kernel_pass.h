// Pass that replaces custom calls of user kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_HOST_KERNEL_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_HOST_KERNEL_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Replaces each call of kHostKernelTarget by a call of the kernel that it names. NotFound if that kernel does not
// exist.
absl::Status UseHostKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_HOST_KERNEL_PASS_H_
