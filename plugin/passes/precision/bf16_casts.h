// Casts between float32 nodes and nodes that were converted to bfloat16.
#ifndef HPU_PLUGIN_PASSES_PRECISION_BF16_CASTS_H_
#define HPU_PLUGIN_PASSES_PRECISION_BF16_CASTS_H_

#include "absl/status/status.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Attribute (bool, true) of the casts that this adds. Such casts do not express the program's own choice of precision.
inline constexpr char kBf16CastAttr[] = "_habana_bf16_cast";

// Inserts a cast on each edge between float32 and bfloat16. Adds one cast for each tensor and type, and never chains
// two casts where one suffices. The program's own casts are looked through and shared.
absl::Status InsertBf16Casts(tensorflow::Graph* graph);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PRECISION_BF16_CASTS_H_
