// Collectives on the HPU: reductions that start early, clusters split around them, one order for all.
#ifndef HPU_PLUGIN_PASSES_COLLECTIVES_COLLECTIVE_PASS_H_
#define HPU_PLUGIN_PASSES_COLLECTIVES_COLLECTIVE_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

inline constexpr char kByTransportAttr[] = "_habana_by_transport";

// Each CollectiveReduceV2 on the HPU gets an HpuCollectiveStart as its ordering token. The start queues the copy to the
// host. Control edges between the reductions give all workers, whose graphs are equal, one order: by the longest path
// to each reduction, then by name.
//
// Unless TF_HABANA_COLLECTIVE_REDUCE_SYNC is set, each reduction has a stage of its own (kStageAttr): the nodes that it
// needs and earlier reductions do not. Clusters do not cross stages, and a stage waits for the start of the previous
// copy. So a bucket of gradients is sent while the rest of the backward pass runs. Nodes that no reduction needs, such
// as updates and metrics, have no stage.
//
// HPU_COLLECTIVE_PRECISION=bfloat16 casts float32 around them.
//
// The other collectives on the HPU are part of the same order, because devices that exchange data directly match
// collectives by arrival. Some have no such order: several in lowered loops and branches, and broadcasts, whose two
// ends are in different graphs. They get kByTransportAttr, and TensorFlow's transport matches them by their keys.
absl::Status RewriteCollectives(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_COLLECTIVES_COLLECTIVE_PASS_H_
