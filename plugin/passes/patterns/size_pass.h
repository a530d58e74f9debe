// Rewriting of Size in clusters to HabanaSize.
#ifndef HPU_PLUGIN_PASSES_PATTERNS_SIZE_PASS_H_
#define HPU_PLUGIN_PASSES_PATTERNS_SIZE_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Replaces each Size in a cluster by HabanaSize, the op name that precision lists and reports use. A Size outside
// clusters stays: TensorFlow's kernel computes the size without reading the data.
absl::Status RewriteSizes(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PATTERNS_SIZE_PASS_H_
