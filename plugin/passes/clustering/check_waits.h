// Order of checks that run after clusters and the later updates of variables.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_CHECK_WAITS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_CHECK_WAITS_H_

#include "absl/types/span.h"
#include "plugin/passes/clustering/check_order.h"
#include "plugin/passes/clustering/cluster_ancestors.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Makes each update outside the clusters of a check's ops wait for the check, if the update depends on such an op. In
// lowered loops and branches, a Merge, Enter, Exit or NextIteration on the way to the update waits instead: such nodes
// run even if the check is dead.
void WaitForChecks(absl::Span<const LateCheck> checks, const ClusterMembers& members, tensorflow::Graph* graph);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_CHECK_WAITS_H_
