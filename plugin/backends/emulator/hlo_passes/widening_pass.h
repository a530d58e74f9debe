// Sums of bfloat16 become sums of float32.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_WIDENING_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_WIDENING_PASS_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Computes in float32, and rounds the result, what adds numbers of bfloat16: products, convolutions, sums, sums over
// windows, select-and-scatter, scatter. XLA would round after each addition, in loops over single elements; the card
// does not, and the kernels for float32 take these then. What comes before is widened where it is small: through
// reversals, transpositions and reshapes.
absl::Status WidenSums(xla::HloModule* module);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_WIDENING_PASS_H_
