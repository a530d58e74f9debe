// HabanaPhiloxState and HabanaRandomOrder: the state of a stateful random op, outside the cluster that uses it.
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
    .Attr("numbers_of_row: int >= 0 = 0")
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
numbers_of_row: how many numbers the CPU's kernel sets aside for each of the first dimension; 0: one for each element.
)doc");

REGISTER_OP("HabanaRandomOrder")
    .Input("shape: Tshape")
    .Output("order: int32")
    .Attr("Tshape: {int32, int64}")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .SetIsStateful()
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* c) {
      tensorflow::shape_inference::ShapeHandle shape;
      TF_RETURN_IF_ERROR(c->MakeShapeFromShapeTensor(0, &shape));
      TF_RETURN_IF_ERROR(c->WithRankAtLeast(shape, 1, &shape));
      c->set_output(0, c->Vector(c->Dim(shape, 0)));
      return tensorflow::OkStatus();
    })
    .Doc(R"doc(
The order in which TensorFlow's CPU kernel of RandomShuffle with these seeds would put the rows, at this execution.

shape: of what is shuffled, at least a vector.
order: of the rows, in host memory.
seed: as of RandomShuffle; both 0 take a seed from the operating system, once for each kernel.
)doc");

}  // namespace hpu
