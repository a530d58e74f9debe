// Lowering of a whole program: its graphs, and the loops that the host drives.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_PROGRAM_LOWERING_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_PROGRAM_LOWERING_H_

#include "absl/status/statusor.h"
#include "plugin/backends/gaudi/lowerings/instruction_counts.h"
#include "plugin/backends/gaudi/plan/plan_builder.h"
#include "plugin/backends/gaudi/plan/program_plan.h"
#include "plugin/program/program_table.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::gaudi {

// Splits a prepared module (hlo_preparation.h) at its loops, and lowers each part (LowerModule). A module without loops
// is one graph. Unimplemented if a loop's state is not a tuple of arrays, or if instructions cannot be lowered. The
// second error contains the errors of all parts. Adds the instructions of each part to `counts`, unless it is null.
absl::StatusOr<ProgramPlan> LowerProgram(const xla::HloModule& module, const ProgramTable& table,
                                         const PlanTarget& target, InstructionCounts* counts = nullptr);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_PROGRAM_LOWERING_H_
