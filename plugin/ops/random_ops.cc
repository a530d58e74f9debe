// HabanaPhiloxState: the state of a stateful random op, outside the cluster that draws from it.
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace hpu {

REGISTER_OP("HabanaPhiloxState")
    .Input("shape: Tshape")
    .Output("key: uint64")
    .Output("counter: uint64")
    .Attr("Tshape: {int32, int64}")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .SetIsStateful()
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* c) {
      c->set_output(0, c->Vector(1));
      c->set_output(1, c->Vector(2));
      return tensorflow::OkStatus();
    })
    .Doc(R"doc(
The Philox key and counter that TensorFlow's CPU kernel of a stateful random op with these seeds would use for this execution.

shape: of the random numbers that will be drawn; the state moves on by as much as the CPU's kernel moves it.
key: of the stateless op that draws.
counter: of the stateless op that draws.
seed: as of the stateful op; both 0 take a seed from the operating system, once for each kernel.
)doc");

}  // namespace hpu
