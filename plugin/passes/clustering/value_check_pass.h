// Errors for values that an op's CPU kernel refuses (value_rules.h), which compiled code would compute with.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_VALUE_CHECK_PASS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_VALUE_CHECK_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Adds a HabanaCheckValues, on the CPU, for every op on an HPU that follows a value rule, unless constants tell that
// its values pass. Values from the host are tested there, and the op waits for the check. Values that a cluster
// computes are tested in the cluster, which returns one boolean for them; the check runs after it: the error comes with
// the same step, but variables may have been updated. Constants that break the rule get kUncheckedAttr: the CPU's
// kernel raises.
absl::Status AddValueChecks(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_VALUE_CHECK_PASS_H_
