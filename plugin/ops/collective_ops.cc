// What the pass over collective ops makes of them: collective_pass.h.
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"

namespace hpu {

// Stateful, as TensorFlow's own: no pass that runs later merges or drops them.
REGISTER_OP("HpuCollectiveStart")
    .Input("input: T")
    .Output("staged: variant")
    .Attr("T: {bfloat16, float, float16, float64, int64}")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::ScalarShape)
    .Doc(R"doc(
Queues the copy of a tensor to the host behind the work that makes it, and waits for nothing.

staged: the copy, for one HpuCollectiveReduce.
)doc");

REGISTER_OP("HpuCollectiveReduce")
    .Input("staged: variant")
    .Input("group_size: int32")
    .Input("group_key: int32")
    .Input("instance_key: int32")
    .Input("ordering_token: Nordering_token * resource")
    .Output("data: T")
    .Attr("T: {bfloat16, float, float16, float64, int64}")
    .Attr("merge_op: {'Min', 'Max', 'Mul', 'Add'}")
    .Attr("final_op: {'Id', 'Div'}")
    .Attr("communication_hint: string = 'auto'")
    .Attr("timeout_seconds: float = 0")
    .Attr("is_stateless: bool = false")
    .Attr("Nordering_token: int >= 0 = 0")
    .Attr("max_subdivs_per_device: int = -1")
    .SetIsStateful()
    .SetIsDistributedCommunication()
    .SetShapeFn(tensorflow::shape_inference::UnknownShape)
    .Doc(R"doc(
CollectiveReduceV2 of a tensor that HpuCollectiveStart copies.
)doc");

}  // namespace hpu
