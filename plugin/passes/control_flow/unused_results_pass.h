// Removal of unused results of loops and branches.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_UNUSED_RESULTS_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_UNUSED_RESULTS_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Removes unused results of loops and branches on the HPU, the ops in their functions that compute only these, and the
// arguments that only those ops took. Lowered loops and branches run no unneeded op, but a whole one would run it and
// report its errors. Ops with side effects stay. Runs once the graph contains the fetches.
absl::Status RemoveUnusedResults(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_UNUSED_RESULTS_PASS_H_
