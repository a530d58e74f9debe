// Pass that removes roundings to bfloat16 of numbers that are bfloat16 already.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_EXACT_ROUNDINGS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_EXACT_ROUNDINGS_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// XLA:CPU computes each bfloat16 op in float32 and rounds its result. Slices and maxima are rounded too, although their
// numbers are rounded already; that costs eight instructions per number. This pass runs after XLA's. It removes such
// roundings, or turns them into a shift if the result is stored. The numbers are the same.
absl::Status OmitExactRoundings(xla::HloModule* module);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_EXACT_ROUNDINGS_H_
