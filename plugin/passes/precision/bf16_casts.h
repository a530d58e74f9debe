// Casts between nodes that work in float32 and nodes that were converted to bfloat16.
#ifndef HPU_PLUGIN_PASSES_PRECISION_BF16_CASTS_H_
#define HPU_PLUGIN_PASSES_PRECISION_BF16_CASTS_H_

#include "absl/status/status.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Attribute (bool, true) of the casts that this adds: they say nothing of the program's own choice of precision.
inline constexpr char kBf16CastAttr[] = "_habana_bf16_cast";

// Puts a cast on each edge of which one end is float32 and the other bfloat16: one for each tensor and type, never one
// behind another where one does the same. Casts of the program's own are looked through and shared.
absl::Status InsertBf16Casts(tensorflow::Graph* graph);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PRECISION_BF16_CASTS_H_
