// HLO passes that run before a program is lowered to a Synapse graph.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_HLO_PREPARATION_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_HLO_PREPARATION_H_

#include <memory>

#include "absl/status/statusor.h"
#include "plugin/backends/gaudi/plan/plan_builder.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/service/hlo.pb.h"

namespace hpu::gaudi {

// Loads a program and rewrites it. Marked calls that the target has kernels for become custom calls (composites.h).
// Other calls are inlined, dynamic sizes become masks, batch dimensions of products come first, and constants are
// folded. Loops are unrolled or rotated, and conditionals become selections or loops. Instructions without a Synapse
// node are expanded where XLA has an expansion. Arguments and results stay the same. Fails with XLA's error if the
// program is not valid.
absl::StatusOr<std::unique_ptr<xla::HloModule>> PrepareModule(const xla::HloModuleProto& proto,
                                                              const PlanTarget& target);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_HLO_PREPARATION_H_
