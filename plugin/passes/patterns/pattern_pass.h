// Pattern matching: replacement of groups of ops by fused ops.
#ifndef HPU_PLUGIN_PASSES_PATTERNS_PATTERN_PASS_H_
#define HPU_PLUGIN_PASSES_PATTERNS_PATTERN_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Replaces every match of the pattern table (pattern.h) on an HPU by its fused op. The fused op has the root's name.
// Also rewrites the functions of loops, branches and calls. Does nothing with TF_ENABLE_PATTERN_MATCHER=0.
// PatternRewriter::Replace lists the matches that stay unchanged. For each pattern, the pass tries only nodes with the
// root's op type, and only if the graph contains all required op types.
absl::Status MatchPatterns(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PATTERNS_PATTERN_PASS_H_
