// Pass that removes roundings to bfloat16 without effect: the operands are bfloat16 numbers already.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_EXACT_ROUNDINGS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_EXACT_ROUNDINGS_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// XLA:CPU computes each bfloat16 op in float32 and rounds the result. It also rounds slices and maxima, whose elements
// are bfloat16 numbers already; a rounding costs eight instructions per element. This pass runs after XLA's passes.
// Inside fusions, it removes such roundings, or turns them into shifts if the result is stored. Results do not change.
absl::Status OmitExactRoundings(xla::HloModule* module);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_EXACT_ROUNDINGS_H_
