// Pass that replaces reductions over adjacent dimensions by kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_REDUCTION_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_REDUCTION_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Replaces float32 sum, max and product reductions, and boolean and / or reductions, by kernel calls. Leaves a
// reduction unchanged if its dimensions are not adjacent. If they include the last dimension, it also leaves many or
// short rows to XLA, whose code is fast for them. The kernel includes the operand's product, square or conversion from
// bfloat16.
absl::Status UseReductionKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_REDUCTION_PASS_H_
