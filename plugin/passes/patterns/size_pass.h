// Size in clusters.
#ifndef HPU_PLUGIN_PASSES_PATTERNS_SIZE_PASS_H_
#define HPU_PLUGIN_PASSES_PATTERNS_SIZE_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Makes HabanaSize of each Size in a cluster: the name under which precision lists and reports know it. Outside
// clusters TensorFlow's kernel gives the size without a look at the data.
absl::Status RewriteSizes(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PATTERNS_SIZE_PASS_H_
