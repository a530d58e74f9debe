// HabanaSoftmaxGrad and HabanaLogSoftmaxGrad: gradients over the last dimension, computed from the forward results.
#include "plugin/tensorflow/fused/fused_op.h"
#include "tensorflow/core/framework/op.h"

namespace hpu {

REGISTER_OP("HabanaSoftmaxGrad")
    .Input("dy: T")
    .Input("y: T")
    .Output("dx: T")
    .Attr("T: {bfloat16, half, float, double}")
    .SetShapeFn(ShapeOfSecondInput)
    .Doc("Gradient of Softmax; y is the result of Softmax.");

REGISTER_OP("HabanaLogSoftmaxGrad")
    .Input("dy: T")
    .Input("y: T")
    .Output("dx: T")
    .Attr("T: {bfloat16, half, float, double}")
    .SetShapeFn(ShapeOfSecondInput)
    .Doc("Gradient of LogSoftmax; y is the result of LogSoftmax.");

const FusedOp softmax_grad("HabanaSoftmaxGrad", "", R"(
  dx = Mul(Sub(dy, Sum(Mul(dy, y), -1)[keep_dims=true]), y)
)");

const FusedOp log_softmax_grad("HabanaLogSoftmaxGrad", "", R"(
  dx = Sub(dy, Mul(Sum(dy, -1)[keep_dims=true], Exp(y)))
)");

const FusedKernels softmax_grad_kernels("HabanaSoftmaxGrad");
const FusedKernels log_softmax_grad_kernels("HabanaLogSoftmaxGrad");

}  // namespace hpu
