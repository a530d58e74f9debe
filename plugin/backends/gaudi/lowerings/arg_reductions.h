// Argmax and argmin.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_ARG_REDUCTIONS_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_ARG_REDUCTIONS_H_

#include "absl/status/status.h"
#include "plugin/backends/common/hlo/reduction.h"
#include "plugin/backends/gaudi/lowerings/lowering.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hpu::gaudi {

// Sets the extremum and its position as the value of a reduction. The first of equal extrema wins. As in a loop over
// the elements, NaN at the last position wins, and elements before any other NaN do not count. Fails as
// PlanBuilder::AddNode does.
absl::Status LowerArgReduction(Lowering& lowering, const xla::HloInstruction& instruction,
                               const hlo::ArgReduction& reduction);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_ARG_REDUCTIONS_H_
