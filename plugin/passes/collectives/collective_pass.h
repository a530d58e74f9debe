// Scheduling of collectives on the HPU: early starts of reductions, stages of clusters, one order on all workers.
#ifndef HPU_PLUGIN_PASSES_COLLECTIVES_COLLECTIVE_PASS_H_
#define HPU_PLUGIN_PASSES_COLLECTIVES_COLLECTIVE_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

inline constexpr char kByTransportAttr[] = "_habana_by_transport";

// Adds an HpuCollectiveStart to each CollectiveReduceV2 on the HPU, except of int32, as an ordering token. The
// HpuCollectiveStart queues the copy to the host. Control edges order the reductions by the longest path to each
// reduction, then by name. The order is the same on all workers, because all workers have equal graphs.
//
// Unless TF_HABANA_COLLECTIVE_REDUCE_SYNC is set, each reduction has a stage (kStageAttr): the nodes that this
// reduction needs and no earlier reduction needs. A small stage joins the previous stage. Clusters do not cross stages,
// and a stage waits until the previous copy has been queued. So a bucket of gradients is sent while the rest of the
// backward pass runs. Nodes that no reduction needs, such as updates and metrics, have no stage.
//
// With HPU_COLLECTIVE_PRECISION=bfloat16, float32 reductions are cast to bfloat16 and back.
//
// The order includes the other collectives on the HPU, because devices that exchange data directly match collectives by
// arrival. Two kinds of collectives have no common order: several collectives in a graph with lowered loops or
// branches, and broadcasts that are not eager. The two ends of such a broadcast are in different graphs. The pass sets
// kByTransportAttr on both kinds, and TensorFlow's transport matches them by key.
absl::Status RewriteCollectives(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_COLLECTIVES_COLLECTIVE_PASS_H_
