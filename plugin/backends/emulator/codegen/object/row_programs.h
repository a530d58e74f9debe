// Programs of elementwise loops that serve arrays of any size.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_ROW_PROGRAMS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_ROW_PROGRAMS_H_

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "plugin/backends/emulator/codegen/row_loop.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Describes a loop fusion, an elementwise instruction, or a call that splits either over threads. The instruction must
// compute each element of its only result from scalars, from elements at the same position, and from elements of the
// same feature (RowLoop). Arrays must be row-major. Nullopt for other instructions. RowLoop::function is not set.
std::optional<RowLoop> RowLoopOf(const xla::HloInstruction& instruction);

// The program of the instruction's function. Its parameters and results are rows of kRowLoopElements elements; scalars
// stay scalars. The program does not depend on the sizes of the instruction's arrays. `loop` is RowLoopOf(instruction).
absl::StatusOr<std::unique_ptr<xla::HloModule>> ProgramOfRowLoop(const xla::HloInstruction& instruction,
                                                                 const RowLoop& loop);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_OBJECT_ROW_PROGRAMS_H_
