// Removal of unused results of loops and branches.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_UNUSED_RESULTS_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_UNUSED_RESULTS_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Removes unused results of loops and branches on the HPU. Also removes the ops that only these results need, and the
// arguments that only these ops use. A lowered loop or branch does not run such ops; a functional loop or branch would
// run such ops and report their errors. Ops with side effects stay. Runs after the fetches have been added to the
// graph.
absl::Status RemoveUnusedResults(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_UNUSED_RESULTS_PASS_H_
