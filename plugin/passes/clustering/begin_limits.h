// Bounds of the begin of a slice.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_BEGIN_LIMITS_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_BEGIN_LIMITS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "plugin/passes/graph/node_maker.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/graph/node_builder.h"

namespace hpu::passes {

// Adds nodes for the exclusive limits of a slice's begin, so that kVector tests the begin like kBegin. `sizes`: the
// sizes of kBegin. Appends the new nodes to `made`.
absl::StatusOr<tensorflow::Node*> BeginLimits(const NodeMaker& maker, tensorflow::NodeBuilder::NodeOut sizes,
                                              std::vector<tensorflow::Node*>* made);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_BEGIN_LIMITS_H_
