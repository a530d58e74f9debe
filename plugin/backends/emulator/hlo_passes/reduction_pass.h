// Pass that replaces reductions over adjacent dimensions by kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_REDUCTION_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_REDUCTION_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Replaces large float32 sum, max and product reductions, and boolean `and` and `or` reductions, with kernel calls.
// Does not replace reductions over dimensions that are not adjacent. Does not replace reductions of many or short rows
// over the last dimension either, because XLA's code for such rows is fast. The kernel includes the operand's product,
// square or conversion from bfloat16.
absl::Status UseReductionKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_REDUCTION_PASS_H_
