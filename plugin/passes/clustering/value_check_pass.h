// Value checks: errors for values that an op's CPU kernel rejects (value_rules.h) and compiled code would accept.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_VALUE_CHECK_PASS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_VALUE_CHECK_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Adds a HabanaCheckValues, on the CPU, for every op on an HPU that has a value rule, unless constants show that its
// values pass. Values from the host are tested there, and the op waits for the check. Values that a cluster computes
// are tested in the cluster, which returns one boolean for them; the check runs after it. The error then comes in the
// same step, but variables may have been updated. An op whose constants break the rule gets kUncheckedAttr, so that the
// CPU kernel fails.
absl::Status AddValueChecks(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_VALUE_CHECK_PASS_H_
