// Segmentation: groups the marked nodes into clusters.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_SEGMENTATION_PASS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_SEGMENTATION_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Sets kClusterAttr to the cluster's name on nodes in a cluster, and removes kCandidateAttr from all nodes.
//
// Guarantees: replacing each cluster by one node creates no cycle, including control edges and loops. The nodes of a
// cluster are on one device, in one frame, and alive or dead together. No TensorList and no tensor of unknown size
// crosses a cluster's border. Without HPU_CLUSTER_FUEL, the result depends only on the graph and the settings.
absl::Status SegmentGraph(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_SEGMENTATION_PASS_H_
