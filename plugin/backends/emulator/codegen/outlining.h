// Outlining of a program's loops into separately compiled functions.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OUTLINING_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OUTLINING_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Replaces fusions, and other instructions that XLA compiles to loops, by kernel calls. Returns one program per kernel:
// its parameters are the instruction's operands, and its result is a tuple of the instruction's results. Instructions
// with the same computation, shapes and aliases share a program, which is compiled once. Outlining saves compile time,
// because LLVM compiles one function with hundreds of loops much more slowly than hundreds of functions. Results do not
// change. Kernel numbers start at `first_number`.
//
// XLA's passes must not run on `module` afterwards, because the calls do not declare all operands that they overwrite.
// A small program stays unchanged.
absl::StatusOr<std::vector<std::unique_ptr<xla::HloModule>>> Outline(xla::HloModule* module, int first_number);

// A program that computes only the instruction and returns a tuple of its results. Its parameters are the instruction's
// operands. The program also computes the operands in `inner`; their own operands become parameters instead.
std::unique_ptr<xla::HloModule> ProgramOfInstruction(const xla::HloInstruction& instruction,
                                                     absl::Span<const xla::HloInstruction* const> inner = {});

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OUTLINING_H_
