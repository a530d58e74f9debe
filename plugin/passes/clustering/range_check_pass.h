// Range checks: errors for random integers from an empty range, which compiled code would ignore.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_RANGE_CHECK_PASS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_RANGE_CHECK_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Whether an op draws integers from a range that may be empty. The CPU kernel fails for an empty range.
bool MayHaveEmptyRange(const tensorflow::Node& node);

// Adds a HabanaCheckRange on the CPU for every StatelessRandomUniformIntV2 on an HPU whose range is not constant. The
// random pass has already replaced other draws from a range by this op. The check runs before the op if both ends
// and the shape come from the host. Otherwise the check runs after the cluster that computes these inputs. Sets
// kUncheckedAttr on an op with an empty constant range, and the op's CPU kernel raises the error.
absl::Status AddRangeChecks(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_RANGE_CHECK_PASS_H_
