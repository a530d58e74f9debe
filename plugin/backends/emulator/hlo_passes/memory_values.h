// Analysis of which HLO values are stored in memory; XLA fuses the other values into loops.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MEMORY_VALUES_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MEMORY_VALUES_H_

#include "xla/hlo/ir/hlo_instruction.h"

namespace hpu::emulator {

// Whether the value is certainly in memory. Constants do not count, because XLA folds values that are computed from
// constants only.
bool IsInMemory(const xla::HloInstruction* value);

// Whether all users of the value read it from memory.
bool IsNeededInMemory(const xla::HloInstruction* value);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MEMORY_VALUES_H_
