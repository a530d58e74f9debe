// Takes the instructions out of a program that are worth a function of their own.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OUTLINING_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OUTLINING_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Replaces fusions, and other instructions that become loops, by calls of kernels, and returns for each kernel a
// program that computes it: the instruction's operands in, a tuple of its results out. Instructions that compute the
// same from the same shapes share one. LLVM takes much longer for one function of hundreds of loops than for each by
// itself, and what is alike is compiled once. The numbers stay the same. Kernels are numbered from `first_number` on.
//
// `module` is ready for code generation: XLA's passes must not run on it again, for calls say nothing of the arguments
// that they work on in place. A small program is left as it is.
absl::StatusOr<std::vector<std::unique_ptr<xla::HloModule>>> Outline(xla::HloModule* module, int first_number);

// A program that computes the instruction alone, as a tuple of its results. Its parameters are the instruction's
// operands; of those in `inner`, which the program computes too, theirs.
std::unique_ptr<xla::HloModule> ProgramOfInstruction(const xla::HloInstruction& instruction,
                                                     absl::Span<const xla::HloInstruction* const> inner = {});

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OUTLINING_H_
