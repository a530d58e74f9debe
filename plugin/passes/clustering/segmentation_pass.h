// Segmentation: which candidates make a cluster together.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_SEGMENTATION_PASS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_SEGMENTATION_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Takes kCandidateAttr away from every node and sets kClusterAttr, to a cluster's name, on those that a cluster holds.
//
// Guarantees: clusters, each seen as one node, make no cycle with each other and the rest, control edges and loops
// included; the nodes of a cluster are on one device, in one frame, and alive or dead together; no TensorList and
// nothing of unknown size crosses a cluster's border. The result depends on the graph alone, but for HPU_CLUSTER_FUEL.
absl::Status SegmentGraph(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_SEGMENTATION_PASS_H_
