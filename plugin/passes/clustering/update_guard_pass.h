// Update guards: variables keep their values if a check fails that runs after the variables' cluster.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_UPDATE_GUARD_PASS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_UPDATE_GUARD_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Guards variables against checks that run after a cluster (kChecksAttr). Compiled code cannot stop at an invalid
// index or divisor, so the cluster would overwrite variables before the check raises the error.
//
// An update in the cluster of a checked op is guarded, unless the checked op depends on the update: as on the CPU, such
// an update happens before the error. The cluster computes one boolean for each check. Ops that update some rows of a
// variable get indices out of range if the boolean is false. Their lowerings drop such indices, so tables are not
// copied. After other updates, a HabanaRevertUpdate selects between the new and the old value.
//
// Updates outside the cluster that depend on the checked op wait for the check. In lowered loops and branches, the
// update's Merge, Exit, Enter or NextIteration waits instead, because the check may be dead where the update runs.
//
// Runs after segmentation. Graphs without such checks do not change.
absl::Status GuardUpdates(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_UPDATE_GUARD_PASS_H_
