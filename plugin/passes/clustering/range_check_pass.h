// Errors for random whole numbers from an empty range, which compiled code would pass over.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_RANGE_CHECK_PASS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_RANGE_CHECK_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Whether an op draws whole numbers from a range that is not known to hold one: the CPU's kernel raises.
bool MayHaveEmptyRange(const tensorflow::Node& node);

// Adds a HabanaCheckRange, on the CPU, for every StatelessRandomUniformIntV2 on an HPU (the random pass has made all
// draws from a range into these) unless its range is constant. Where both ends and the shape come from the host, the
// check runs before the op; otherwise after the cluster that computes them. A constant range that is empty gets
// kUncheckedAttr: the CPU's kernel raises.
absl::Status AddRangeChecks(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_RANGE_CHECK_PASS_H_
