// Index checks: errors for out-of-range indices, which compiled code would ignore.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_CHECK_PASS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_CHECK_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Adds a HabanaCheckIndices for every HPU op whose CPU kernel fails for out-of-range indices (or labels). The op may
// then be in a cluster.
//
// The op waits for the check if the bounding sizes are fixed and the indices come from the host: from an iterator, a
// CPU op or an int32 argument, possibly through casts and reshapes (not in graphs with lowered control flow). As on the
// CPU, the op then never runs with invalid indices. Otherwise the check runs after the cluster, on the HPU, and reads
// the indices that the cluster computes. So does the check of an op that follows the update of a variable, because the
// CPU keeps that update (UpdateFollowers). The same step then reports the error, and GuardUpdates keeps the variables'
// values.
//
// Ops share equal checks. The pass itself checks constant indices with fixed bounds, and assumes that other constant
// indices into int32 tensors are valid. Coordinates of true elements (tf.boolean_mask, tf.gather_nd(x,
// tf.where(flags))) need no check if the flags have at most the size of the indexed tensor in each dimension. The pass
// sets kUncheckedAttr on ops with invalid constant indices, and on ops that it cannot check (a variable of unknown
// shape, a non-constant axis). These ops stay outside clusters.
absl::Status AddIndexChecks(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_CHECK_PASS_H_
