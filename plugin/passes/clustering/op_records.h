// What becomes of every op of a graph, and why: for `hpu explain`.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_OP_RECORDS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_OP_RECORDS_H_

#include <string>

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Fills report.ops and report.gaps from a graph between segmentation and encapsulation. An op outside every cluster
// gets the rule of its refusal; one that is not on an HPU what kept it off: placement's refusal, the program's own pin,
// a missing kernel, or its neighbours.
absl::Status RecordOps(PassContext* context);

// The same for a graph that the passes leave alone as a whole, for `rule`: its ops on an HPU get that.
void RecordUnclusteredOps(PassContext* context, const std::string& rule, const std::string& reason);

// Gives the report its number and every node kRecordAttr, for what is recorded later. After the last pass.
void TagNodes(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_OP_RECORDS_H_
