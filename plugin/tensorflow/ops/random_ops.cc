// HabanaPhiloxState and HabanaRandomOrder: random generator states of stateful random ops, outside clusters.
#include "plugin/base/status_macros.h"
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
Returns the Philox key and counter that TensorFlow's CPU kernel of a stateful random op uses for this execution.

shape: Shape of the random numbers. The state advances by the same amount as in the CPU kernel.
key: Key for the stateless op that computes the numbers.
counter: Counter for the stateless op that computes the numbers.
seed: Seed of the stateful op. If seed and seed2 are 0, the operating system provides a seed, once per kernel.
numbers_of_row: Numbers that the CPU kernel reserves for each row of the first dimension; 0: one for each element.
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
      HPU_RETURN_IF_ERROR(c->MakeShapeFromShapeTensor(0, &shape));
      HPU_RETURN_IF_ERROR(c->WithRankAtLeast(shape, 1, &shape));
      c->set_output(0, c->Vector(c->Dim(shape, 0)));
      return tensorflow::OkStatus();
    })
    .Doc(R"doc(
Returns the order of rows that TensorFlow's CPU kernel of RandomShuffle uses for this execution.

shape: Shape of the shuffled tensor, which has at least one dimension.
order: Source of each row of the result; in host memory.
seed: Seed of RandomShuffle. If seed and seed2 are 0, the operating system provides a seed, once per kernel.
)doc");

}  // namespace hpu
