// HabanaDropout and its gradient. The random numbers are an input, because the random op has a node and a placement of
// its own.
#include "plugin/tensorflow/fused/fused_op.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"

namespace hpu {

REGISTER_OP("HabanaDropout")
    .Input("x: T")
    .Input("noise: T")
    .Output("y: T")
    .Output("mask: bool")
    .Attr("T: {bfloat16, half, float}")
    .Attr("rate: float")
    .Attr("scale: float")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* c) {
      c->set_output(0, c->input(0));
      c->set_output(1, c->input(1));
      return tensorflow::OkStatus();
    })
    .Doc(R"doc(
x * scale where noise >= rate, 0 elsewhere.

noise: Uniform random numbers in [0, 1); the shape equals x's or broadcasts to it.
mask: True where x is kept.
)doc");

REGISTER_OP("HabanaDropoutGrad")
    .Input("dy: T")
    .Input("mask: bool")
    .Output("dx: T")
    .Attr("T: {bfloat16, half, float}")
    .Attr("scale: float")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape)
    .Doc("Gradient of HabanaDropout; mask is a result of HabanaDropout.");

const FusedOp dropout("HabanaDropout", "", R"(
  mask = GreaterEqual(noise, $rate)
  y = SelectV2(mask, Mul(x, $scale), 0)
)");

const FusedOp dropout_grad("HabanaDropoutGrad", "", R"(
  dx = Mul(SelectV2(mask, dy, 0), $scale)
)");

const FusedKernels dropout_kernels("HabanaDropout");
const FusedKernels dropout_grad_kernels("HabanaDropoutGrad");

}  // namespace hpu
