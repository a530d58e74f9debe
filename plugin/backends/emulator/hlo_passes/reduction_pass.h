// Reductions over leading dimensions become kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_REDUCTION_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_REDUCTION_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Takes float32 sums, maxima and products, and whether all or any booleans are true, over dimensions that lie together
// and are not the last, or over all, and of few long rows; XLA does other rows well. The product or square of which a
// sum is becomes part of it, and so does the conversion from bfloat16.
absl::Status UseReductionKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_REDUCTION_PASS_H_
