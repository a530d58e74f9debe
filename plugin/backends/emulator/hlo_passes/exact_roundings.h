// Roundings to bfloat16 of numbers that are bfloat16 already.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_EXACT_ROUNDINGS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_EXACT_ROUNDINGS_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// XLA:CPU computes each op of bfloat16 in float32 and rounds its result, that of a slice or a maximum too, whose
// numbers are rounded ones: eight instructions a number. This pass, which runs after XLA's, takes such roundings out,
// and makes a shift of those whose result is stored. The numbers are the same.
absl::Status OmitExactRoundings(xla::HloModule* module);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_EXACT_ROUNDINGS_H_
