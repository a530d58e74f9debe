// Fused ops of a graph as the plain ops of their decompositions.
#ifndef HPU_PLUGIN_TENSORFLOW_FUSED_WRITTEN_OUT_H_
#define HPU_PLUGIN_TENSORFLOW_FUSED_WRITTEN_OUT_H_

#include "absl/status/status.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu {

// Replaces each fused op of `graph` by the ops of its decomposition. After an error, the graph may have changed.
absl::Status WriteOutFusedOps(tensorflow::Graph* graph);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_FUSED_WRITTEN_OUT_H_
