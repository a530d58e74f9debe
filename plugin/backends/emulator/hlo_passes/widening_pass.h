// Sums of bfloat16 become sums of float32.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_WIDENING_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_WIDENING_PASS_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Computes in float32, and rounds the result, what adds numbers of bfloat16: products, convolutions, sums, sums over
// windows, select-and-scatter, scatter; and reductions that multiply them. XLA would round after each addition, in
// loops over single elements; the card does not, and the kernels for float32 take these then. Operands are converted
// before reversals, transpositions and reshapes, and products rounded behind their transposition, where the passes for
// kernels look for these.
absl::Status WidenSums(xla::HloModule* module);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_WIDENING_PASS_H_
