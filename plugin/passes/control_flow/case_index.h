// Protection of Case ops from grappler's constant folding.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_CASE_INDEX_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_CASE_INDEX_H_

#include "absl/status/status.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Inserts a node that grappler cannot fold between each stateful Case with the attribute `lowered` and its index.
// Rewrites the graph and the functions. Grappler would replace a Case with a constant index by a PartitionedCall
// without side effects. It would then inline the call, with node names that may already exist. Stock TensorFlow is not
// affected, because it lowers Cases before grappler runs.
absl::Status HideCaseIndices(tensorflow::Graph* graph, tensorflow::FunctionLibraryDefinition* library,
                             const char* lowered);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_CASE_INDEX_H_
