// HabanaClampFwd, HabanaClampBwd, HabanaMaxGrad and HabanaMinGrad: clamping and its gradient, gradients of Max and Min.
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
    .Doc("Gradient of HabanaClampFwd: dy where min <= x <= max, else 0.");

REGISTER_OP("HabanaMaxGrad")
    .Input("dy: T")
    .Input("x: T")
    .Input("max: T")
    .Output("dx: T")
    .Attr("T: {bfloat16, half, float, double}")
    .Attr("axes: list(int)")
    .SetShapeFn(ShapeOfSecondInput)
    .Doc(R"doc(
Gradient of Max: distributes each dy equally over the largest elements.

dy: The dimensions in axes have size 1.
max: Result of Max; the dimensions in axes have size 1.
)doc");

REGISTER_OP("HabanaMinGrad")
    .Input("dy: T")
    .Input("x: T")
    .Input("min: T")
    .Output("dx: T")
    .Attr("T: {bfloat16, half, float, double}")
    .Attr("axes: list(int)")
    .SetShapeFn(ShapeOfSecondInput)
    .Doc("Gradient of Min: distributes each dy equally over the smallest elements, like HabanaMaxGrad.");

const FusedOp clamp("HabanaClampFwd", "", R"(
  y = Maximum(Minimum(x, $max), $min)
)");

const FusedOp clamp_grad("HabanaClampBwd", "", R"(
  dx = SelectV2(LogicalAnd(LessEqual(x, $max), GreaterEqual(Minimum(x, $max), $min)), dy, 0)
)");

// The elements that are not extreme get 0 / count * dy, which is NaN if no element is extreme because all comparisons
// with NaN are false. XLA would turn a product with a converted comparison into a selection of 0.
const FusedOp max_grad("HabanaMaxGrad", "", R"(
  is_largest = Equal(max, x)
  count = Sum(Cast(is_largest)[DstT=$T], $axes)[keep_dims=true]
  dx = SelectV2(is_largest, Mul(RealDiv(1, count), dy), Mul(RealDiv(0, count), dy))
)");

const FusedOp min_grad("HabanaMinGrad", "", R"(
  is_smallest = Equal(min, x)
  count = Sum(Cast(is_smallest)[DstT=$T], $axes)[keep_dims=true]
  dx = SelectV2(is_smallest, Mul(RealDiv(1, count), dy), Mul(RealDiv(0, count), dy))
)");

const FusedKernels clamp_fwd_kernels("HabanaClampFwd");
const FusedKernels clamp_bwd_kernels("HabanaClampBwd");
const FusedKernels max_grad_kernels("HabanaMaxGrad");
const FusedKernels min_grad_kernels("HabanaMinGrad");

}  // namespace hpu
