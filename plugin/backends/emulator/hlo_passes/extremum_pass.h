// Pass that replaces maxima, minima, ArgMax and ArgMin by kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_EXTREMUM_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_EXTREMUM_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Replaces float32 maxima of rows, and minima of rows, of columns and of whole arrays. Also replaces their positions,
// for bfloat16 too, in the form that tf2xla emits for ArgMax and ArgMin. Must run after the passes for softmax, whose
// kernels contain maxima, and for sums.
absl::Status UseExtremumKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_EXTREMUM_PASS_H_
