// HpuCollectiveStart: the op that the collective pass (collective_pass.h) adds to a graph.
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"

namespace hpu {

// Stateful, like TensorFlow's own collective ops, so that later passes neither merge nor drop the op.
REGISTER_OP("HpuCollectiveStart")
    .Input("input: T")
    .Output("staged: resource")
    .Attr("T: {bfloat16, float, float16, float64, int64}")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::ScalarShape)
    .Doc(R"doc(
Queues a copy of a tensor to the host after the work that computes the tensor. If devices reduce directly, records an
event after that work instead. Does not wait.

staged: The copy or the event. Also an ordering token of the CollectiveReduceV2 that reduces the same tensor.
)doc");

}  // namespace hpu
