// HabanaGelu and HabanaGeluGrad: Gaussian error linear unit and its gradient.
#include <vector>

#include "plugin/compiler/lowerings/elementwise_lowering.h"
#include "plugin/program/marked_call.h"
#include "plugin/tensorflow/fused/fused_op.h"
#include "plugin/tensorflow/fused/marked_fused_op.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu {

REGISTER_OP("HabanaGelu")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float, double}")
    .Attr("approximate: bool = false")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape)
    .Doc(R"doc(
Gaussian error linear unit, as tf.nn.gelu.

approximate: If true, uses the hyperbolic tangent instead of the error function.
)doc");

REGISTER_OP("HabanaGeluGrad")
    .Input("dy: T")
    .Input("x: T")
    .Output("dx: T")
    .Attr("T: {bfloat16, half, float, double}")
    .Attr("approximate: bool = false")
    .SetShapeFn(ShapeOfSecondInput)
    .Doc("Gradient of HabanaGelu.");

const FusedOp gelu_erf("HabanaGelu", "approximate=false", R"(
  y = Mul(Mul(0.5, x), AddV2(1, Erf(Mul(x, 0.7071067811865476))))
)");

const FusedOp gelu_erf_grad("HabanaGeluGrad", "approximate=false", R"(
  share = Mul(0.5, AddV2(1, Erf(scaled)))
  scaled = Mul(x, 0.7071067811865476)
  slope = Mul(Mul(x, 0.3989422804014327), Exp(Neg(Square(scaled))))
  dx = Mul(dy, AddV2(share, slope))
)");

const FusedOp gelu_tanh("HabanaGelu", "approximate=true", R"(
  inner = Mul(0.7978845608028654, AddV2(x, Mul(0.044715, Mul(x, Square(x)))))
  y = Mul(Mul(0.5, x), AddV2(1, Tanh(inner)))
)");

const FusedOp gelu_tanh_grad("HabanaGeluGrad", "approximate=true", R"(
  tanh = Tanh(Mul(0.7978845608028654, AddV2(x, Mul(0.044715, Mul(x, Square(x))))))
  share = Mul(0.5, AddV2(1, tanh))
  inner_slope = AddV2(0.7978845608028654, Mul(0.1070322243, Square(x)))
  slope = Mul(Mul(Mul(0.5, x), Sub(1, Square(tanh))), inner_slope)
  dx = Mul(dy, AddV2(share, slope))
)");

xla::XlaOp ExactGelu(const std::vector<xla::XlaOp>& operands) {
  const xla::XlaOp x = operands[0];
  const xla::XlaOp share = xla::ScalarLike(x, 1) + ErrorFunction(x * xla::ScalarLike(x, 0.7071067811865476));
  return xla::ScalarLike(x, 0.5) * x * share;
}

// The hyperbolic tangent of the approximation.
xla::XlaOp GeluTanh(xla::XlaOp x) {
  return xla::Tanh(xla::ScalarLike(x, 0.7978845608028654) * (x + xla::ScalarLike(x, 0.044715) * (x * (x * x))));
}

xla::XlaOp ApproximateGelu(const std::vector<xla::XlaOp>& operands) {
  const xla::XlaOp x = operands[0];
  return xla::ScalarLike(x, 0.5) * x * (xla::ScalarLike(x, 1) + GeluTanh(x));
}

xla::XlaOp ApproximateGeluGradient(const std::vector<xla::XlaOp>& operands) {
  const xla::XlaOp dy = operands[0], x = operands[1];
  const xla::XlaOp tanh = GeluTanh(x);
  const xla::XlaOp one = xla::ScalarLike(x, 1), half = xla::ScalarLike(x, 0.5);
  const xla::XlaOp inner_slope = xla::ScalarLike(x, 0.7978845608028654) + xla::ScalarLike(x, 0.1070322243) * (x * x);
  return dy * (half * (one + tanh) + half * x * (one - tanh * tanh) * inner_slope);
}

// The card's kernel of the gradient supports only the approximation.
const MarkedFusedOp gelu_erf_mark("HabanaGelu", "approximate=false", kGelu, "exact", ExactGelu);
const MarkedFusedOp gelu_tanh_mark("HabanaGelu", "approximate=true", kGelu, "tanh", ApproximateGelu);
const MarkedFusedOp gelu_tanh_grad_mark("HabanaGeluGrad", "approximate=true", kGeluGradient, "tanh",
                                        ApproximateGeluGradient);

const FusedKernels gelu_kernels("HabanaGelu");
const FusedKernels gelu_grad_kernels("HabanaGeluGrad");

}  // namespace hpu
