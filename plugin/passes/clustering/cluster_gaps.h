// What keeps clusters apart.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_GAPS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_GAPS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "plugin/passes/reporting/pass_context.h"
#include "plugin/passes/reporting/report.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// For each cluster (kClusterAttr) of a segmented graph: why it is not one with the cluster before it and with those
// that it takes tensors from. Rules: mandatory, device, loop, deadness (these two may not be in one cluster), cycle
// (ops outside must run between them), resource-hazard (the same, and one of them takes a resource), size-limit
// (`largest` ops, 0 for no limit).
//
// Costs a search through the graph for each pair of clusters, 2,000 pairs at most: for reports, not for every run.
absl::StatusOr<std::vector<Gap>> FindGaps(const tensorflow::Graph& graph, const PassContext& context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_GAPS_H_
