// Segmentation: cuts the marked nodes into clusters.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_SEGMENTATION_PASS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_SEGMENTATION_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Removes kCandidateAttr from every node, and sets kClusterAttr to the cluster's name on nodes in a cluster.
//
// Guarantees: clusters, each seen as one node, form no cycle with each other or with other nodes, including control
// edges and loops. The nodes of a cluster are on one device, in one frame, and alive or dead together. No TensorList
// and no tensor of unknown size crosses a cluster's border. The result depends only on the graph, except for
// HPU_CLUSTER_FUEL.
absl::Status SegmentGraph(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_SEGMENTATION_PASS_H_
