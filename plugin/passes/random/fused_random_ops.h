// Expansion of fused random ops into a random op and the ops that use its numbers.
#ifndef HPU_PLUGIN_PASSES_RANDOM_FUSED_RANDOM_OPS_H_
#define HPU_PLUGIN_PASSES_RANDOM_FUSED_RANDOM_OPS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Replaces each HabanaDropoutStateful on an HPU by RandomUniform and HabanaDropout, and each
// HabanaRandomUniformWithMaxval by RandomUniform and Mul, so that RewriteRandomOps finds the RandomUniform.
absl::Status ExpandFusedRandomOps(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_RANDOM_FUSED_RANDOM_OPS_H_
