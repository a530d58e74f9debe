// Batch normalisation, in training and its gradient: the sums become kernels, the rest stays HLO that fuses.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_BATCH_NORM_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_BATCH_NORM_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Takes float32 whose features come last. What was converted from bfloat16 is read as that.
absl::Status UseBatchNormKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_BATCH_NORM_PASS_H_
