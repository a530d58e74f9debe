// Conversion of a placed graph to bfloat16: docs/tuning/mixed_precision.md.
#ifndef HPU_PLUGIN_PASSES_PRECISION_BF16_PASS_H_
#define HPU_PLUGIN_PASSES_PRECISION_BF16_PASS_H_

#include "absl/status/status.h"
#include "plugin/passes/reporting/pass_context.h"

namespace hpu::passes {

// Converts nodes according to the active configuration, in the graph and in the functions of its calls, loops and
// branches. Reports each converted node. Variables, arguments and results keep their types. The program itself may cast
// variables to a 16-bit type, for example with a Keras mixed precision policy. The pass then logs a warning and leaves
// the graph or function unchanged.
absl::Status ConvertToBf16(PassContext* context);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PRECISION_BF16_PASS_H_
