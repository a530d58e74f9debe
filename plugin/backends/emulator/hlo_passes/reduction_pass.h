// Pass that replaces reductions over leading dimensions by kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_REDUCTION_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_REDUCTION_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Replaces float32 sums, maxima and products, and the logical and / or of booleans. The reduced dimensions must be
// adjacent. If they include the last dimension, the rows must be few and long, because XLA's code is fast for many
// rows. A summed product or square, and a conversion from bfloat16, become part of the kernel.
absl::Status UseReductionKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_REDUCTION_PASS_H_
