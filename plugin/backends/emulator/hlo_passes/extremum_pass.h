// Maxima, minima and their places become kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_EXTREMUM_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_EXTREMUM_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Takes float32 maxima of rows, minima of rows and columns and of all, and the places of these, of bfloat16 too, as
// tf2xla writes ArgMax and ArgMin. After the passes for softmax, whose maxima are part of their kernels, and for sums.
absl::Status UseExtremumKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_EXTREMUM_PASS_H_
