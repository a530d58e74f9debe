// The bfloat16 conversion of a placed graph: docs/tuning/mixed_precision.md.
#ifndef HPU_PLUGIN_PASSES_PRECISION_BF16_PASS_H_
#define HPU_PLUGIN_PASSES_PRECISION_BF16_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Converts nodes as the active configuration says, in the graph and in the functions of its calls, loops and branches.
// Reports each converted node. Variables, arguments and results keep their types. If the program itself casts variables
// to a 16-bit type, its author has chosen a precision: the graph stays unchanged, with a warning.
absl::Status ConvertToBf16(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PRECISION_BF16_PASS_H_
