// Control edges that preserve the order of stateful function calls inside clusters.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_CALL_ORDER_PASS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_CALL_ORDER_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Adds control edges from each stateful call in a cluster to the stateful ops that depend on the call. TensorFlow
// finishes a call before its consumers start. tf2xla inlines calls, so a result of an inlined function does not wait
// for the function's side effects. A control edge from the call restores this order. Also rewrites functions that a
// cluster calls.
absl::Status OrderCalls(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_CALL_ORDER_PASS_H_
