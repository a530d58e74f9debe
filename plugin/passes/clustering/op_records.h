// Records of every op of a graph, with its cluster or refusal: for `hpu explain`.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_OP_RECORDS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_OP_RECORDS_H_

#include <string>

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Fills report.ops and report.splits from a graph between segmentation and encapsulation. An op on an HPU outside every
// cluster gets the rule of its refusal. An op on another device gets the reason: a refusal by placement, the program's
// own pin, a missing kernel, or its neighbours.
absl::Status RecordOps(PassContext* context);

// The same for a graph without clusters: all its ops on an HPU get `rule` and `reason`.
void RecordUnclusteredOps(PassContext* context, const std::string& rule, const std::string& reason);

// Numbers the report and sets kRecordAttr on every node, so that later records can refer to it. Runs after the last
// pass.
void TagNodes(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_OP_RECORDS_H_
