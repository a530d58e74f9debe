// Concatenations become kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_CONCATENATION_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_CONCATENATION_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Takes those of larger arrays. XLA fuses what makes them into a loop that asks of each element where it comes from.
absl::Status UseConcatenationKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_CONCATENATION_PASS_H_
