// Control edges that keep the order of function calls inside clusters.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_CALL_ORDER_PASS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_CALL_ORDER_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Makes the stateful ops of a cluster wait for the stateful calls that their inputs come from. TensorFlow finishes a
// call before any consumer gets its results. tf2xla inlines calls, and a result of an inlined function does not wait
// for the function's side effects; a control edge from the call does. Functions that a cluster calls are ordered too.
absl::Status OrderCalls(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_CALL_ORDER_PASS_H_
