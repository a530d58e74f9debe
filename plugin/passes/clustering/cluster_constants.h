// Copies of constants inside clusters.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_CONSTANTS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_CONSTANTS_H_

#include "absl/status/status.h"
#include "tensorflow/core/graph/graph.h"

namespace hpu::passes {

// Whether a node is a constant without control inputs. A cluster can hold a copy of such a constant.
bool IsFreeConstant(const tensorflow::Node& node);

// Copies each small free constant into every cluster (kClusterAttr) that uses it. Removes originals without other
// consumers. Large constants stay outside and become arguments.
absl::Status CopyConstantsIntoClusters(tensorflow::Graph* graph);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_CLUSTER_CONSTANTS_H_
