// The bfloat16 conversion of a placed graph: docs/tuning/mixed_precision.md.
#ifndef HPU_PLUGIN_PASSES_PRECISION_BF16_PASS_H_
#define HPU_PLUGIN_PASSES_PRECISION_BF16_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Converts what the configuration in force says, in the graph and in the functions that its calls, loops and branches
// hold, and reports each converted node. Variables, arguments and results keep their types. A graph in which the
// program itself casts variables to a 16-bit type stays as it is, with a warning: its author has chosen.
absl::Status ConvertToBf16(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PRECISION_BF16_PASS_H_
