// Pass that computes sums of bfloat16 in float32.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_WIDENING_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_WIDENING_PASS_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Rewrites instructions that add bfloat16 numbers so that they add in float32 and round each result once. These are
// products, convolutions, sums, sums over windows, scatter and select-and-scatter. Does the same for reductions that
// multiply. XLA would round after each addition, in loops over single elements; a card does not. Kernels for float32
// can replace the widened instructions. Operands are converted before reversals, transpositions and reshapes, and
// products are rounded after their transposition, because the passes for kernels expect conversions there.
absl::Status WidenSums(xla::HloModule* module);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_WIDENING_PASS_H_
