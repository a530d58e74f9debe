// HabanaLaunch: one cluster as one op.
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"

namespace hpu {

// Stateful, so that later passes do not merge or drop it.
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
    // Keeps the status Unavailable, which reports a lost device server. For other ops TensorFlow turns Unavailable into
    // Internal.
    .SetIsDistributedCommunication()
    .SetShapeFn(tensorflow::shape_inference::UnknownShape)
    .Doc(R"doc(
Runs a cluster: compiles its function for the arguments' dtypes and shapes, or finds the recipe, and launches it.

args: compile-time constants first, then other arguments, then resources.
results: what the function returns, in its order.
num_constant_args: how many of args must be known when the cluster is compiled.
num_resource_args: how many of args are resource handles.
must_compile: an error rather than a fallback to the CPU if the function does not compile.
)doc");

}  // namespace hpu
