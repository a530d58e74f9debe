// Reasons why neighbouring clusters are separate, for reports.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_SPLITS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_SPLITS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "plugin/passes/reporting/pass_context.h"
#include "plugin/passes/reporting/report.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// For each cluster (kClusterAttr) of a segmented graph: why it is separate from the cluster before it, and from the
// clusters whose tensors it takes. Rules: must-compile, device, loop, deadness (the two may not be in one cluster),
// cycle (ops outside must run between them), resource-hazard (the same, and one of these ops takes a resource),
// size-limit
// (`largest` ops, 0 for no limit).
//
// Searches the graph for each pair of clusters, 2,000 pairs at most. Too slow for every run; meant for reports.
absl::StatusOr<std::vector<ClusterSplit>> FindSplits(const tensorflow::Graph& graph, const PassContext& context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_SPLITS_H_
