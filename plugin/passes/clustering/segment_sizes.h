// Sizes with which HabanaCheckIndices and HabanaIndicesInRange check segment ids.
#ifndef HPU_PLUGIN_PASSES_CLUSTERING_SEGMENT_SIZES_H_
#define HPU_PLUGIN_PASSES_CLUSTERING_SEGMENT_SIZES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "plugin/passes/graph/graph_util.h"
#include "plugin/passes/graph/node_maker.h"

namespace hpu::passes {

// Returns a vector: the number of segments, which is `limit`, and the sizes of `data`. If one of these is 0, the CPU's
// kernel reads no segment ids. `maker` makes all nodes but the Shape of `data`, which `shape_maker` makes. Appends the
// nodes to `made`.
absl::StatusOr<tensorflow::Node*> SegmentSizes(const NodeMaker& maker, const NodeMaker& shape_maker,
                                               tensorflow::NodeBuilder::NodeOut limit, tensorflow::OutputTensor data,
                                               std::vector<tensorflow::Node*>* made);

// Whether SegmentSizes made the node.
bool AreSegmentSizes(const tensorflow::Node& node);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_CLUSTERING_SEGMENT_SIZES_H_
