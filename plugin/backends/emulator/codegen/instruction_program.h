// Programs of single instructions.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_INSTRUCTION_PROGRAM_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_INSTRUCTION_PROGRAM_H_

#include <memory>

#include "absl/types/span.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// A program without computations, with the settings of the instruction's program except profiling.
std::unique_ptr<xla::HloModule> EmptyProgram(const xla::HloInstruction& instruction);

// A program that computes only the instruction and returns a tuple of its results. Its parameters are the instruction's
// operands. The program also computes the operands in `inner`; their own operands become parameters instead.
std::unique_ptr<xla::HloModule> ProgramOfInstruction(const xla::HloInstruction& instruction,
                                                     absl::Span<const xla::HloInstruction* const> inner = {});

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_INSTRUCTION_PROGRAM_H_
