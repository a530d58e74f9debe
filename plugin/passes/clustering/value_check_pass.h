// Value checks: errors for values that CPU kernels reject and compiled code would accept (checks/value_rule.h).
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_VALUE_CHECK_PASS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_VALUE_CHECK_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Adds a HabanaCheckValues on the CPU for every HPU op with a value rule. Constants need no such op, because the pass
// itself tests constants. Values from the host are tested on the host, and the op waits for the check. Values that a
// cluster computes are tested in the cluster, which returns one boolean; the check runs after the cluster. The same
// step then reports the error, and GuardUpdates keeps the variables' values. Sets kUncheckedAttr on an op whose
// constants violate the rule, and the op's CPU kernel raises the error.
absl::Status AddValueChecks(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_VALUE_CHECK_PASS_H_
