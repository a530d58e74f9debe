// Loops that XLA has split over threads, and that one thread runs sooner.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SMALL_LOOPS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SMALL_LOOPS_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// The loop that a call splits over threads, or null: all that is called is the loop, of the call's operands.
xla::HloInstruction* SplitLoop(const xla::HloInstruction& call);

// XLA splits loops by what it estimates them to cost, and takes an array of 4 KiB with a dozen operations an element,
// as the roundings to bfloat16 are, for worth four threads. This pass, which runs after XLA's, has loops of vectors
// that take less than waking a thread does run on one. The numbers are the same: threads divide the elements of a
// result.
absl::Status JoinSmallLoops(xla::HloModule* module);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SMALL_LOOPS_H_
