#include "plugin/passes/clustering/begin_limits.h"

#include <cstdint>

#include "tsl/platform/statusor.h"

namespace hpu::passes {

using tensorflow::Node;
using tensorflow::NodeBuilder;
using tensorflow::Tensor;

// (sizes of the tensor) - (sizes of the slice) + 1.
absl::StatusOr<Node*> BeginLimits(const NodeMaker& maker, NodeBuilder::NodeOut sizes, std::vector<Node*>* made) {
  Tensor shape(tensorflow::DT_INT32, {2}), signs(tensorflow::DT_INT32, {2, 1}), one(tensorflow::DT_INT32, {}),
      axis(tensorflow::DT_INT32, {});
  shape.flat<int32_t>()(0) = 2;
  shape.flat<int32_t>()(1) = -1;
  signs.flat<int32_t>()(0) = 1;
  signs.flat<int32_t>()(1) = -1;
  one.scalar<int32_t>()() = 1;
  axis.scalar<int32_t>()() = 0;
  TF_ASSIGN_OR_RETURN(Node * rows, maker.Constant("rows", shape));
  TF_ASSIGN_OR_RETURN(Node * factors, maker.Constant("signs", signs));
  TF_ASSIGN_OR_RETURN(Node * added, maker.Constant("one", one));
  TF_ASSIGN_OR_RETURN(Node * dimension, maker.Constant("axis", axis));
  NodeBuilder reshape = maker.New("both", "Reshape");
  TF_ASSIGN_OR_RETURN(Node * both, maker.Add(reshape.Input(sizes).Input(rows)));
  TF_ASSIGN_OR_RETURN(Node * product, maker.Binary("signed", "Mul", both, factors));
  TF_ASSIGN_OR_RETURN(Node * last, maker.Binary("last", "Sum", product, dimension));
  TF_ASSIGN_OR_RETURN(Node * limits, maker.Binary("limits", "AddV2", last, added));
  made->insert(made->end(), {rows, factors, added, dimension, both, product, last, limits});
  return limits;
}

}  // namespace hpu::passes
