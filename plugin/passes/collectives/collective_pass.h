// Collectives of the HPU: reductions started early, with the computation cut around them; all issued in one order.
#ifndef HPU_PLUGIN_PASSES_COLLECTIVES_COLLECTIVE_PASS_H_
#define HPU_PLUGIN_PASSES_COLLECTIVES_COLLECTIVE_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

inline constexpr char kByTransportAttr[] = "_habana_by_transport";

// Each CollectiveReduceV2 on the HPU gets an HpuCollectiveStart, which queues the copy to the host and which it takes
// as an ordering token. Control edges between the reductions give all workers, whose graphs are equal, one order: by
// the longest path to each, then by name.
//
// Unless TF_HABANA_COLLECTIVE_REDUCE_SYNC, what each reduction needs beyond what those before it need is a stage of its
// own (kStageAttr), which clusters do not cross, and the next stage waits for the start of the copy. So a bucket of
// gradients is on its way while the rest of the backward pass runs. What no reduction needs has no stage: updates and
// metrics.
//
// HPU_COLLECTIVE_PRECISION=bfloat16 casts float32 around them.
//
// The other collectives on the HPU join that one order, for devices that exchange data by themselves take what comes
// first. Those for which there is none, several in lowered loops and branches, and broadcasts, whose ends lie in
// different graphs, get kByTransportAttr: TensorFlow's transport finds by their keys what belongs together.
absl::Status RewriteCollectives(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_COLLECTIVES_COLLECTIVE_PASS_H_
