// Insertion of casts between float32 nodes and converted bfloat16 nodes.
#ifndef HPU_PLUGIN_PASSES_PRECISION_BF16_CASTS_H_
#define HPU_PLUGIN_PASSES_PRECISION_BF16_CASTS_H_

#include "absl/status/status.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Attribute (bool, true) of inserted casts. The program's own casts do not have this attribute.
inline constexpr char kBf16CastAttr[] = "_habana_bf16_cast";

// Inserts a cast on each edge between float32 and bfloat16. Edges share one cast for each tensor, type and device.
// Reuses the program's own casts, and does not chain two casts if one is sufficient.
absl::Status InsertBf16Casts(tensorflow::Graph* graph);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PRECISION_BF16_CASTS_H_
