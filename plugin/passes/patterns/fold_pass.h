// Arithmetic on constants, done once.
#ifndef HPU_PLUGIN_PASSES_PATTERNS_FOLD_PASS_H_
#define HPU_PLUGIN_PASSES_PATTERNS_FOLD_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Replaces ops on an HPU that depend on constants alone by their value, which the CPU computes. A value of more than
// TF_MAX_CONST_SIZE_IN_CLUSTER bytes stays an op: it would travel with every cluster that uses it. Graphs with lowered
// loops and branches stay as they are: their constants belong to frames.
absl::Status FoldConstants(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PATTERNS_FOLD_PASS_H_
