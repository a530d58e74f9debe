// Protection of Case indices from constant folding.
#ifndef HPU_PLUGIN_PASSES_CONTROL_FLOW_CASE_INDEX_H_
#define HPU_PLUGIN_PASSES_CONTROL_FLOW_CASE_INDEX_H_

#include "absl/status/status.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Inserts a node that grappler does not fold before the index of each stateful Case with the attribute `lowered`, in
// the graph and in the functions. Grappler would turn a Case with a constant index into a PartitionedCall without side
// effects. It would then inline the call under names that the graph may already have. Stock TensorFlow is not affected,
// because it lowers Cases before grappler runs.
absl::Status HideCaseIndices(tensorflow::Graph* graph, tensorflow::FunctionLibraryDefinition* library,
                             const char* lowered);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CONTROL_FLOW_CASE_INDEX_H_
