// Index checks: errors for indices out of range, which compiled code would ignore.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_CHECK_PASS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_CHECK_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Adds a HabanaCheckIndices, on the CPU, for every op on an HPU whose CPU kernel fails for indices (or labels) out of
// range. The op itself may then be in a cluster.
//
// The check reads indices on the host if they come from there (an iterator, a CPU op, an int32 argument), perhaps
// through casts and reshapes. The sizes that bound them must be fixed. The op waits for the check, so nothing is
// computed or updated with wrong indices, as on the CPU. Otherwise the check reads the indices that the cluster
// computes, after the cluster. The error then comes in the same step, but variables may have been updated.
//
// Equal checks are added once. Constant indices are checked in this pass. Coordinates of true elements
// (tf.boolean_mask, tf.gather_nd(x, tf.where(flags))) need no check if no size of the flags exceeds that of the indexed
// tensor. Ops that cannot be checked (a variable of unknown shape, an axis that is not constant) get kUncheckedAttr and
// stay outside clusters.
absl::Status AddIndexChecks(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_CHECK_PASS_H_
