// Pass that replaces transpositions that move the last dimension by kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_TRANSPOSITION_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_TRANSPOSITION_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Replaces transpositions of large arrays: XLA touches a cache line for each element of one of the arrays. Leaves a
// transposition to XLA if XLA merges it into a product, a convolution, a reduction or another transposition. Must run
// after the passes that replace these instructions.
absl::Status UseTranspositionKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_TRANSPOSITION_PASS_H_
