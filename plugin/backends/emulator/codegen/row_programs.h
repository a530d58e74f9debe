// Programs of elementwise loops that serve arrays of every size.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_ROW_PROGRAMS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_ROW_PROGRAMS_H_

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "plugin/backends/emulator/codegen/row_loop.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Describes an instruction that computes each element of its only result from scalars, from elements at the same
// position, and from the elements of its feature (the last dimensions): a loop fusion, an elementwise instruction, or a
// call that splits either over threads. The order of memory is that of the dimensions. Otherwise returns nullopt.
// RowLoop::function is not set.
std::optional<RowLoop> RowLoopOf(const xla::HloInstruction& instruction);

// The program of the instruction's function. Its parameters and results are rows of kRowLoopElements elements; scalars
// stay scalars. It is the same for all sizes and dimensions of the instruction. `loop` is RowLoopOf(instruction).
absl::StatusOr<std::unique_ptr<xla::HloModule>> ProgramOfRowLoop(const xla::HloInstruction& instruction,
                                                                 const RowLoop& loop);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_ROW_PROGRAMS_H_
