// Errors for indices out of range, which compiled code would pass over.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_CHECK_PASS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_CHECK_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Adds a HabanaCheckIndices, on the CPU, for every op on an HPU whose CPU kernel raises for indices (or labels) out of
// range, so that the op itself may be in a cluster.
//
// Where the indices come from the host (an iterator, a CPU op, an int32 argument), perhaps through casts and reshapes,
// and the sizes that bound them are fixed, the check looks at them there and the op waits for it: nothing is computed
// or updated with wrong indices, as on the CPU. Otherwise it looks at the indices that the cluster computes, after it:
// the error comes with the same step, but variables may have been updated. Equal checks are made once; constant indices
// are checked here, and coordinates of flags (tf.boolean_mask, tf.gather_nd(x, tf.where(flags))) not at all where these
// are no more than what is indexed. Ops that cannot be checked (a variable of unknown shape, an axis that is no
// constant) get kUncheckedAttr and stay outside clusters.
absl::Status AddIndexChecks(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_CHECK_PASS_H_
