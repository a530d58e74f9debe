// Outlining of a program's loops into functions of their own.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OUTLINING_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OUTLINING_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Replaces fusions, and other instructions that become loops, by kernel calls. Returns for each kernel a program that
// computes it: its parameters are the instruction's operands, its result is a tuple of the instruction's results.
// Instructions that compute the same from the same shapes share a program. LLVM compiles one function of hundreds of
// loops much more slowly than each loop by itself, and shared programs are compiled once. The numbers stay the same.
// Kernel numbers start at `first_number`.
//
// `module` is ready for code generation: XLA's passes must not run on it again, because calls do not declare the
// arguments that they overwrite. A small program stays unchanged.
absl::StatusOr<std::vector<std::unique_ptr<xla::HloModule>>> Outline(xla::HloModule* module, int first_number);

// A program that computes only the instruction and returns a tuple of its results. Its parameters are the instruction's
// operands. Operands in `inner` are computed by the program too; their own operands become parameters instead.
std::unique_ptr<xla::HloModule> ProgramOfInstruction(const xla::HloInstruction& instruction,
                                                     absl::Span<const xla::HloInstruction* const> inner = {});

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OUTLINING_H_
