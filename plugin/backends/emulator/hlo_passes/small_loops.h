// Pass that runs loops on one thread if splitting them over threads is slower.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SMALL_LOOPS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SMALL_LOOPS_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// The loop that a call splits over threads, or null. The called computation must consist of the loop only, on the
// call's operands.
xla::HloInstruction* SplitLoop(const xla::HloInstruction& call);

// XLA splits loops over threads by estimated cost. For example, it splits a loop over 4 KiB with a dozen operations per
// element, as in roundings to bfloat16, over four threads. This pass runs after XLA's passes. A vectorised loop that
// takes less time than waking a thread runs on one thread. Results do not change, because threads divide the elements
// of a result.
absl::Status JoinSmallLoops(xla::HloModule* module);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SMALL_LOOPS_H_
