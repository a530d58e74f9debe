// HabanaDropout and its gradient, HabanaDropoutStateful and HabanaRandomUniformWithMaxval.
//
// The random numbers of HabanaDropout are an input, because the random op is a separate node with its own placement. In
// graphs on the HPU, fused_random_ops.h splits the two stateful ops in the same way.
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

REGISTER_OP("HabanaDropoutStateful")
    .Input("x: T")
    .Output("y: T")
    .Output("mask: bool")
    .Attr("T: {bfloat16, half, float}")
    .Attr("rate: float")
    .Attr("scale: float")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .SetIsStateful()
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* c) {
      c->set_output(0, c->input(0));
      c->set_output(1, c->input(0));
      return tensorflow::OkStatus();
    })
    .Doc(R"doc(
HabanaDropout with the random numbers of RandomUniform. HabanaDropoutGrad is the gradient.

mask: True where x is kept.
seed: As in RandomUniform; if seed and seed2 are 0, the operating system provides a seed.
)doc");

REGISTER_OP("HabanaRandomUniformWithMaxval")
    .Input("shape: Tshape")
    .Input("maxval: dtype")
    .Output("output: dtype")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .Attr("dtype: {bfloat16, half, float}")
    .Attr("Tshape: {int32, int64}")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::RandomShape)
    .Doc("Uniform random numbers in [0, maxval): RandomUniform(shape) * maxval.");

const FusedOp dropout_stateful("HabanaDropoutStateful", "", R"(
  noise = RandomUniform(Shape(x))[dtype=$T, seed=$seed, seed2=$seed2]
  mask = GreaterEqual(noise, $rate)
  y = SelectV2(mask, Mul(x, $scale), 0)
)");

const FusedOp random_uniform_with_maxval("HabanaRandomUniformWithMaxval", "", R"(
  output = Mul(RandomUniform(shape)[dtype=$dtype, seed=$seed, seed2=$seed2], maxval)
)");

const FusedOp dropout("HabanaDropout", "", R"(
  mask = GreaterEqual(noise, $rate)
  y = SelectV2(mask, Mul(x, $scale), 0)
)");

const FusedOp dropout_grad("HabanaDropoutGrad", "", R"(
  dx = Mul(SelectV2(mask, dy, 0), $scale)
)");

const FusedKernels dropout_kernels("HabanaDropout");
const FusedKernels dropout_stateful_kernels("HabanaDropoutStateful");
const FusedKernels random_uniform_with_maxval_kernels("HabanaRandomUniformWithMaxval", {"shape"});
const FusedKernels dropout_grad_kernels("HabanaDropoutGrad");

}  // namespace hpu
