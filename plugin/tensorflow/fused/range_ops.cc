// Clamping to a range, and the gradients of Max and Min.
#include "plugin/tensorflow/fused/fused_op.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"

namespace hpu {

REGISTER_OP("HabanaClampFwd")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {bfloat16, half, float}")
    .Attr("min: float")
    .Attr("max: float")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape)
    .Doc("max(min(x, max), min).");

REGISTER_OP("HabanaClampBwd")
    .Input("dy: T")
    .Input("x: T")
    .Output("dx: T")
    .Attr("T: {bfloat16, half, float}")
    .Attr("min: float")
    .Attr("max: float")
    .SetShapeFn(ShapeOfSecondInput)
    .Doc("Gradient of HabanaClampFwd: dy where x is in the range, borders included.");

REGISTER_OP("HabanaMaxGrad")
    .Input("dy: T")
    .Input("x: T")
    .Input("max: T")
    .Output("dx: T")
    .Attr("T: {bfloat16, half, float, double}")
    .Attr("axes: list(int)")
    .SetShapeFn(ShapeOfSecondInput)
    .Doc(R"doc(
Gradient of Max: each dy goes to the largest elements in equal shares.

dy: with the axes kept, of size 1.
max: the result, with the axes kept.
)doc");

REGISTER_OP("HabanaMinGrad")
    .Input("dy: T")
    .Input("x: T")
    .Input("min: T")
    .Output("dx: T")
    .Attr("T: {bfloat16, half, float, double}")
    .Attr("axes: list(int)")
    .SetShapeFn(ShapeOfSecondInput)
    .Doc("Gradient of Min, as HabanaMaxGrad.");

const FusedOp clamp("HabanaClampFwd", "", R"(
  y = Maximum(Minimum(x, $max), $min)
)");

const FusedOp clamp_grad("HabanaClampBwd", "", R"(
  dx = SelectV2(LogicalAnd(LessEqual(x, $max), GreaterEqual(Minimum(x, $max), $min)), dy, 0)
)");

const FusedOp max_grad("HabanaMaxGrad", "", R"(
  largest = Cast(Equal(max, x))[DstT=$T]
  dx = Mul(RealDiv(largest, Sum(largest, $axes)[keep_dims=true]), dy)
)");

const FusedOp min_grad("HabanaMinGrad", "", R"(
  smallest = Cast(Equal(min, x))[DstT=$T]
  dx = Mul(RealDiv(smallest, Sum(smallest, $axes)[keep_dims=true]), dy)
)");

const FusedKernels clamp_fwd_kernels("HabanaClampFwd");
const FusedKernels clamp_bwd_kernels("HabanaClampBwd");
const FusedKernels max_grad_kernels("HabanaMaxGrad");
const FusedKernels min_grad_kernels("HabanaMinGrad");

}  // namespace hpu
