// Pass that replaces maxima, minima, ArgMax and ArgMin by kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_EXTREMUM_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_EXTREMUM_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Replaces maxima and minima of float32 and bfloat16 over adjacent dimensions. Also replaces their positions, in the
// form that tf2xla emits for ArgMax and ArgMin. Must run after UseSoftmaxKernels, whose kernels include the maximum,
// and after UseReductionKernels, which replaces float32 maxima of columns.
absl::Status UseExtremumKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_EXTREMUM_PASS_H_
