// Pattern matching: groups of ops become fused ones.
#ifndef HPU_PLUGIN_PASSES_PATTERNS_PATTERN_PASS_H_
#define HPU_PLUGIN_PASSES_PATTERNS_PATTERN_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Replaces every match of the table of patterns (pattern.h) on an HPU by its fused op, which takes the root's name; in
// the functions of loops, branches and calls too.
// Does nothing with TF_ENABLE_PATTERN_MATCHER=0. What a match would hide from others, it leaves as it is. Takes time
// linear in the size of the graph: places that have a root's op type in a graph that has all of the pattern's op types.
absl::Status MatchPatterns(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PATTERNS_PATTERN_PASS_H_
