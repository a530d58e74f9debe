#include "plugin/passes/clustering/segment_sizes.h"

#include <cstdint>

#include "plugin/base/status_macros.h"

namespace hpu::passes {

using tensorflow::Node;
using tensorflow::NodeBuilder;
using tensorflow::Tensor;

absl::StatusOr<Node*> SegmentSizes(const NodeMaker& maker, const NodeMaker& shape_maker, NodeBuilder::NodeOut limit,
                                   tensorflow::OutputTensor data, std::vector<Node*>* made) {
  Tensor one(tensorflow::DT_INT32, {1}), axis(tensorflow::DT_INT32, {});
  one.flat<int32_t>()(0) = 1;
  axis.scalar<int32_t>()() = 0;
  NodeBuilder shape = shape_maker.New("rows", "Shape");
  HPU_ASSIGN_OR_RETURN(Node * sizes,
                       shape_maker.Add(shape.Input(data.node, data.index).Attr("out_type", tensorflow::DT_INT32)));
  HPU_ASSIGN_OR_RETURN(Node * length, maker.Constant("limit_shape", one));
  HPU_ASSIGN_OR_RETURN(Node * dimension, maker.Constant("concat_axis", axis));
  NodeBuilder reshape = maker.New("limit", "Reshape");
  HPU_ASSIGN_OR_RETURN(Node * vector, maker.Add(reshape.Input(limit).Input(length)));
  NodeBuilder concat = maker.New("segment_sizes", "ConcatV2");
  const std::vector<NodeBuilder::NodeOut> parts = {{vector, 0}, {sizes, 0}};
  HPU_ASSIGN_OR_RETURN(Node * all, maker.Add(concat.Input(parts).Input(dimension)));
  made->insert(made->end(), {sizes, length, dimension, vector, all});
  return all;
}

bool AreSegmentSizes(const Node& node) { return node.type_string() == "ConcatV2"; }

}  // namespace hpu::passes
