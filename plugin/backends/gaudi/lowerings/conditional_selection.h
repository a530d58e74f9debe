// Conditionals as selections between the results of all branches, or as loops.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_CONDITIONAL_SELECTION_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_CONDITIONAL_SELECTION_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::gaudi {

// Synapse graphs have no control flow, so all branches of a conditional are computed. Replaces each conditional without
// loops in its branches, inner conditionals first. Conditionals with loops stay, because a loop may run forever if its
// branch is not taken.
absl::Status SelectBranches(xla::HloModule* module);

// Replaces each remaining conditional by one loop for each branch. A loop has one iteration if its branch is taken,
// else none.
absl::Status LoopOverBranches(xla::HloModule* module);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_CONDITIONAL_SELECTION_H_
