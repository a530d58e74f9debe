// Pass that replaces the sums of batch normalisation, in training and its gradient, by kernels. The rest stays HLO,
// which XLA fuses.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_BATCH_NORM_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_BATCH_NORM_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Supports float32 with features in the last dimension. If x and, for the gradient, dy were converted from bfloat16,
// the kernel reads them as bfloat16.
absl::Status UseBatchNormKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_BATCH_NORM_PASS_H_
