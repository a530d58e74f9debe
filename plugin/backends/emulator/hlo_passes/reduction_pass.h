// Pass that replaces reductions over leading dimensions by kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_REDUCTION_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_REDUCTION_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Replaces float32 sums, maxima and products, and the logical and / or of booleans. The reduced dimensions must be
// adjacent and not the last one, or all dimensions, or the rows must be few and long; XLA's code is good for other
// rows. A product or square that is summed becomes part of the kernel, and so does a conversion from bfloat16.
absl::Status UseReductionKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_REDUCTION_PASS_H_
