// HabanaLayerNorm, HabanaLayerNormV2, HabanaInstanceNorm and their gradients: fused normalisation ops.
//
// Statistics are float32 for all tensor types, because sums of many bfloat16 numbers are inaccurate.
#include "absl/strings/str_cat.h"
#include "plugin/tensorflow/fused/fused_op.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"

namespace hpu {
namespace {

using tensorflow::shape_inference::InferenceContext;

tensorflow::Status NormShape(InferenceContext* c) {
  c->set_output(0, c->input(0));
  for (int i = 1; i < c->num_outputs(); ++i) c->set_output(i, c->UnknownShape());
  return tensorflow::OkStatus();
}

// Shape function of the gradients of x, beta and gamma. gamma is input `kGamma`; beta has gamma's shape.
template <int kGamma>
tensorflow::Status NormGradShape(InferenceContext* c) {
  c->set_output(0, c->input(0));
  c->set_output(1, c->input(kGamma));
  c->set_output(2, c->input(kGamma));
  return tensorflow::OkStatus();
}

}  // namespace

REGISTER_OP("HabanaLayerNorm")
    .Input("x: T")
    .Input("beta: T")
    .Input("gamma: T")
    .Output("y: T")
    .Output("mean: T")
    .Output("istd: T")
    .Attr("T: {bfloat16, half, float}")
    .Attr("axes: tensor")
    .Attr("epsilon: tensor")
    .SetShapeFn(NormShape)
    .Doc(R"doc(
Layer normalisation: (x - mean) * istd * gamma + beta, where istd is 1 / sqrt(variance + epsilon).

axes: Dimensions over which mean and variance are computed: int32, a scalar or a vector.
epsilon: A float32 scalar.
mean: Mean of x; the dimensions in axes have size 1.
istd: 1 / sqrt(variance + epsilon); the dimensions in axes have size 1.
)doc");

REGISTER_OP("HabanaLayerNormGrad")
    .Input("x: T")
    .Input("grad_in: T")
    .Input("mean: T")
    .Input("istd: T")
    .Input("gamma: T")
    .Output("dx: T")
    .Output("dbeta: T")
    .Output("dgamma: T")
    .Attr("T: {bfloat16, half, float}")
    .Attr("axes: tensor")
    .Attr("epsilon: tensor")
    .SetShapeFn(NormGradShape<4>)
    .Doc(
        "Gradients of HabanaLayerNorm with respect to x, beta and gamma; mean and istd are results of "
        "HabanaLayerNorm.");

REGISTER_OP("HabanaLayerNormV2")
    .Input("x: T")
    .Input("beta: T")
    .Input("gamma: T")
    .Output("y: T")
    .Output("mean: T")
    .Output("istd: T")
    .Attr("T: {bfloat16, half, float}")
    .Attr("axes: list(int) = [-1]")
    .Attr("epsilon: float = 0.001")
    .SetShapeFn(NormShape)
    .Doc("HabanaLayerNorm with axes and epsilon as plain attributes, which eager calls support too.");

REGISTER_OP("HabanaLayerNormGradV2")
    .Input("x: T")
    .Input("grad_in: T")
    .Input("mean: T")
    .Input("istd: T")
    .Input("gamma: T")
    .Output("dx: T")
    .Output("dbeta: T")
    .Output("dgamma: T")
    .Attr("T: {bfloat16, half, float}")
    .Attr("axes: list(int) = [-1]")
    .Attr("epsilon: float = 0.001")
    .SetShapeFn(NormGradShape<4>)
    .Doc("Gradients of HabanaLayerNormV2 with respect to x, beta and gamma; mean and istd are results of the op.");

REGISTER_OP("HabanaInstanceNorm")
    .Input("input: T")
    .Input("beta: T")
    .Input("gamma: T")
    .Output("y: T")
    .Output("mean: T")
    .Output("istd: T")
    .Output("reserved_1: T")
    .Output("reserved_2: T")
    .Attr("T: {bfloat16, half, float}")
    .Attr("epsilon: float = 0.001")
    .Attr("axes: list(int) = []")
    .SetShapeFn(NormShape)
    .Doc(R"doc(
Instance normalisation: layer normalisation of each channel of each sample, with channels in the last dimension.

axes: Dimensions over which mean and variance are computed; empty: all dimensions except the first and the last.
reserved_1: Equal to mean.
reserved_2: Equal to istd.
)doc");

REGISTER_OP("HabanaInstanceNormGrad")
    .Input("input: T")
    .Input("grad_in: T")
    .Input("gamma: T")
    .Input("mean: T")
    .Input("istd: T")
    .Output("dinput: T")
    .Output("dbeta: T")
    .Output("dgamma: T")
    .Attr("T: {bfloat16, half, float}")
    .Attr("epsilon: float = 0.001")
    .Attr("axes: list(int) = []")
    .SetShapeFn(NormGradShape<2>)
    .Doc("Gradients of HabanaInstanceNorm with respect to input, beta and gamma; mean and istd are results of the op.");

// Formula of both gradients: dx = istd * (d - mean(d) - n * mean(d * n)). Here n = (x - mean) * istd, and d is the
// gradient with respect to n.
constexpr char kLayerNormText[] = R"(
  wide = Cast(x)[DstT=float]
  wide_mean = Mean(wide, $axes)[keep_dims=true]
  variance = Mean(SquaredDifference(wide, wide_mean), $axes)[keep_dims=true]
  wide_istd = Rsqrt(AddV2(variance, $epsilon))
  scale = Mul(wide_istd, Cast(gamma)[DstT=float])
  wide_y = AddV2(Mul(Sub(wide, wide_mean), scale), Cast(beta)[DstT=float])
  y = Cast(wide_y)[DstT=$T]
  mean = Cast(wide_mean)[DstT=$T]
  istd = Cast(wide_istd)[DstT=$T]
)";

constexpr char kLayerNormGradText[] = R"(
  dy = Cast(grad_in)[DstT=float]
  wide_istd = Cast(istd)[DstT=float]
  normal = Mul(Sub(Cast(x)[DstT=float], Cast(mean)[DstT=float]), wide_istd)
  d = Mul(dy, Cast(gamma)[DstT=float])
  mean_d = Mean(d, $axes)[keep_dims=true]
  mean_dn = Mean(Mul(d, normal), $axes)[keep_dims=true]
  wide_dx = Mul(wide_istd, Sub(d, AddV2(mean_d, Mul(normal, mean_dn))))
  dx = Cast(wide_dx)[DstT=$T]
  broadcast = BroadcastGradientArgs(Shape(x), Shape(gamma))
  dbeta = Cast(Reshape(Sum(dy, broadcast:1), Shape(gamma)))[DstT=$T]
  dgamma = Cast(Reshape(Sum(Mul(dy, normal), broadcast:1), Shape(gamma)))[DstT=$T]
)";

const FusedOp layer_norm("HabanaLayerNorm", "", kLayerNormText);
const FusedOp layer_norm_v2("HabanaLayerNormV2", "", kLayerNormText);
const FusedOp layer_norm_grad("HabanaLayerNormGrad", "", kLayerNormGradText);
const FusedOp layer_norm_grad_v2("HabanaLayerNormGradV2", "", kLayerNormGradText);

constexpr char kAllSpatial[] = "axes = Range(1, Sub(Rank(input), 1), 1)";
constexpr char kGivenAxes[] = "axes = Identity($axes)[T=int32]";

constexpr char kInstanceNorm[] = R"(
  wide = Cast(input)[DstT=float]
  wide_mean = Mean(wide, axes)[keep_dims=true]
  variance = Mean(SquaredDifference(wide, wide_mean), axes)[keep_dims=true]
  wide_istd = Rsqrt(AddV2(variance, $epsilon))
  scale = Mul(wide_istd, Cast(gamma)[DstT=float])
  wide_y = AddV2(Mul(Sub(wide, wide_mean), scale), Cast(beta)[DstT=float])
  y = Cast(wide_y)[DstT=$T]
  mean = Cast(wide_mean)[DstT=$T]
  istd = Cast(wide_istd)[DstT=$T]
  reserved_1 = Cast(wide_mean)[DstT=$T]
  reserved_2 = Cast(wide_istd)[DstT=$T]
)";

constexpr char kInstanceNormGrad[] = R"(
  dy = Cast(grad_in)[DstT=float]
  wide_istd = Cast(istd)[DstT=float]
  normal = Mul(Sub(Cast(input)[DstT=float], Cast(mean)[DstT=float]), wide_istd)
  d = Mul(dy, Cast(gamma)[DstT=float])
  mean_d = Mean(d, axes)[keep_dims=true]
  mean_dn = Mean(Mul(d, normal), axes)[keep_dims=true]
  dinput = Cast(Mul(wide_istd, Sub(d, AddV2(mean_d, Mul(normal, mean_dn)))))[DstT=$T]
  broadcast = BroadcastGradientArgs(Shape(input), Shape(gamma))
  dbeta = Cast(Reshape(Sum(dy, broadcast:1), Shape(gamma)))[DstT=$T]
  dgamma = Cast(Reshape(Sum(Mul(dy, normal), broadcast:1), Shape(gamma)))[DstT=$T]
)";

const FusedOp instance_norm("HabanaInstanceNorm", "axes=[]", absl::StrCat(kAllSpatial, kInstanceNorm));
const FusedOp instance_norm_axes("HabanaInstanceNorm", "", absl::StrCat(kGivenAxes, kInstanceNorm));
const FusedOp instance_norm_grad("HabanaInstanceNormGrad", "axes=[]", absl::StrCat(kAllSpatial, kInstanceNormGrad));
const FusedOp instance_norm_grad_axes("HabanaInstanceNormGrad", "", absl::StrCat(kGivenAxes, kInstanceNormGrad));

const FusedKernels layer_norm_kernels("HabanaLayerNorm");
const FusedKernels layer_norm_grad_kernels("HabanaLayerNormGrad");
const FusedKernels layer_norm_v2_kernels("HabanaLayerNormV2");
const FusedKernels layer_norm_grad_v2_kernels("HabanaLayerNormGradV2");
const FusedKernels instance_norm_kernels("HabanaInstanceNorm");
const FusedKernels instance_norm_grad_kernels("HabanaInstanceNormGrad");

}  // namespace hpu
