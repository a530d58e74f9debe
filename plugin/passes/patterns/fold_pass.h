// Constant folding on the CPU.
#ifndef HPU_PLUGIN_PASSES_PATTERNS_FOLD_PASS_H_
#define HPU_PLUGIN_PASSES_PATTERNS_FOLD_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Replaces HPU ops that depend only on constants by their values, which the CPU computes. Does not fold stateful ops,
// calls, functional control flow, TensorLists, or values of more than TF_MAX_CONST_SIZE_IN_CLUSTER bytes. Graphs with
// lowered loops and branches stay unchanged, because their constants belong to frames.
absl::Status FoldConstants(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PATTERNS_FOLD_PASS_H_
