// Argmax and argmin.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_ARG_REDUCTIONS_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_ARG_REDUCTIONS_H_

#include "absl/status/status.h"
#include "plugin/backends/common/hlo/reduction.h"
#include "plugin/backends/gaudi/lowerings/lowering.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hpu::gaudi {

// Sets the extremum and its position as the value of a reduction. Equal extrema: the first position. A NaN is found
// only at the last position, as by a loop over the elements; else the elements before it do not count. Fails as
// PlanBuilder::AddNode does.
absl::Status LowerArgReduction(Lowering& lowering, const xla::HloInstruction& instruction,
                               const hlo::ArgReduction& reduction);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_ARG_REDUCTIONS_H_
