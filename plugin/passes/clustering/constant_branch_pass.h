// Branches whose predicate depends on shapes only.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_CONSTANT_BRANCH_PASS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_CONSTANT_BRANCH_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// bool: shapes determine the index of the Case, so encapsulation makes the arguments behind the index constants.
inline constexpr char kKnownIndexAttr[] = "_habana_known_index";

// Replaces each If of a cluster by a Case if shapes determine the predicate, and marks such a Case with
// kKnownIndexAttr. tf2xla compiles only one function of a Case whose index it knows, but always both functions of an
// If. The functions may then return different shapes.
absl::Status ReplaceConstantBranches(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_CONSTANT_BRANCH_PASS_H_
