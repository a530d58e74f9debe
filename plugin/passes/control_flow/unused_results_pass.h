// Results of loops and branches that nothing uses.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_UNUSED_RESULTS_PASS_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_UNUSED_RESULTS_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Removes the results of loops and branches on the HPU that nothing uses, what their functions compute for these alone,
// and the arguments that only this took. TensorFlow lowers loops and branches and runs no op that nothing needs; a
// whole loop or branch would run it, with its errors. Ops with side effects stay. Runs when the graph holds what is
// fetched.
absl::Status RemoveUnusedResults(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_UNUSED_RESULTS_PASS_H_
