// Reasons why neighbouring clusters are separate, for reports.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_SPLITS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_SPLITS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "plugin/passes/reporting/pass_context.h"
#include "plugin/passes/reporting/report.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// For each cluster (kClusterAttr) of a segmented graph: why it is separate from the preceding cluster, and from the
// clusters that produce its arguments. Rules:
//
//   must-compile, device, loop, deadness, jit-scope   the two clusters' nodes must not be in one cluster
//   cycle                                             unclustered ops must run between the two clusters
//   resource-hazard                                   like cycle, and one of the unclustered ops uses a resource
//   size-limit                                        both are slices of clusters that exceeded the size limit
//   order                                             another cluster must run between the two, or the segmentation
//                                                     did not try to merge them
//
// Searches the graph once per pair of clusters, for at most 2,000 pairs. Used only for reports, because it is too slow
// for every run.
absl::StatusOr<std::vector<ClusterSplit>> FindSplits(const tensorflow::Graph& graph, const PassContext& context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_SPLITS_H_
