// HabanaLaunch: the op that executes a cluster.
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"

namespace hpu {

// Stateful, so that later passes neither merge nor drop the op.
REGISTER_OP("HabanaLaunch")
    .Input("args: Targs")
    .Output("results: Tresults")
    .Attr("Targs: list(type) >= 0")
    .Attr("Tresults: list(type) >= 0")
    .Attr("function: func")
    .Attr("num_constant_args: int >= 0 = 0")
    .Attr("num_resource_args: int >= 0 = 0")
    .Attr("must_compile: bool = false")
    .SetIsStateful()
    // Keeps the status Unavailable, which reports a lost device server. For other ops TensorFlow replaces Unavailable
    // by Internal.
    .SetIsDistributedCommunication()
    .SetShapeFn(tensorflow::shape_inference::UnknownShape)
    .Doc(R"doc(
Executes a cluster: finds or compiles the recipe for the arguments' dtypes and shapes, and launches it.

args: Compile-time constants first, then other arguments, then resources.
results: Results of the function, in order.
num_constant_args: Number of compile-time constants in args.
num_resource_args: Number of resource handles in args.
must_compile: If true, the op fails instead of falling back to the CPU when the function does not compile.
)doc");

}  // namespace hpu
