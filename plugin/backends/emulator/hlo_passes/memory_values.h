// Which values of a program are in memory: the others live in the loops that XLA fuses them into.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MEMORY_VALUES_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MEMORY_VALUES_H_

#include "xla/hlo/ir/hlo_instruction.h"

namespace hpu::emulator {

// Whether the value is surely in memory. Constants do not count: XLA computes what is made of them alone.
bool IsInMemory(const xla::HloInstruction* value);

// Whether all that reads the value reads it from memory.
bool IsNeededInMemory(const xla::HloInstruction* value);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MEMORY_VALUES_H_
