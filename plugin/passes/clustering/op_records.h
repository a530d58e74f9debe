// Records of all ops in a graph, with their clusters or refusals, for `hpu explain`.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_OP_RECORDS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_OP_RECORDS_H_

#include <string>

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Fills report.ops and report.splits. Runs between segmentation and encapsulation, or last if there is no clustering.
// The record of an unclustered HPU op contains its refusal. The record of an op on another device contains the reason
// for its placement: a refusal, a user pin, a missing kernel, or its neighbours.
absl::Status RecordOps(PassContext* context);

// Like RecordOps, for a graph that the pipeline skips: the records of all HPU ops contain `rule` and `reason`. Also
// calls TagNodes.
void RecordUnclusteredOps(PassContext* context, Rule rule, const std::string& reason);

// Numbers the report and sets kRecordAttr on every node, so that later records can refer to the report. Runs after the
// last pass.
void TagNodes(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_OP_RECORDS_H_
