// Constants that clusters take in.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_CONSTANTS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_CONSTANTS_H_

#include "absl/status/status.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Whether a node is a constant that waits for nothing: a cluster can hold a copy of it wherever it is used.
bool IsFreeConstant(const tensorflow::Node& node);

// Gives every cluster (kClusterAttr) its own copy of the small free constants that it uses; those that nobody else uses
// go away. Large ones stay outside and become arguments.
absl::Status CopyConstantsIntoClusters(tensorflow::Graph* graph);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_CONSTANTS_H_
