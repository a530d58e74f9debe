// HabanaMaskedSoftmax: softmax of masked logits. HabanaSoftmaxGrad and HabanaLogSoftmaxGrad: gradients over the last
// dimension, computed from the forward results.
#include <vector>

#include "plugin/compiler/lowerings/rows.h"
#include "plugin/program/marked_call.h"
#include "plugin/tensorflow/fused/fused_op.h"
#include "plugin/tensorflow/fused/marked_fused_op.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu {

REGISTER_OP("HabanaMaskedSoftmax")
    .Input("logits: T")
    .Input("mask: T")
    .Output("softmax: T")
    .Attr("T: {bfloat16, half, float, double}")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape)
    .Doc(R"doc(
Softmax(logits + mask) over the last dimension, as in the attention of BERT.

mask: Added to the logits: 0 keeps an element, a large negative number removes it. Broadcasts to the shape of logits.
)doc");

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

// The mask must not enlarge the result, which has the shape of logits.
const FusedOp masked_softmax("HabanaMaskedSoftmax", "", R"(
  softmax = Softmax(AddV2(logits, BroadcastTo(mask, Shape(logits))))
)");

const FusedOp softmax_grad("HabanaSoftmaxGrad", "", R"(
  dx = Mul(Sub(dy, Sum(Mul(dy, y), -1)[keep_dims=true]), y)
)");

const FusedOp log_softmax_grad("HabanaLogSoftmaxGrad", "", R"(
  dx = Sub(dy, Mul(Sum(dy, -1)[keep_dims=true], Exp(y)))
)");

xla::XlaOp SoftmaxGradient(const std::vector<xla::XlaOp>& operands) {
  const xla::XlaOp dy = operands[0], y = operands[1];
  return (dy - AlongRows(SumsOfRows(dy * y), y)) * y;
}

const MarkedFusedOp softmax_grad_mark("HabanaSoftmaxGrad", "", kSoftmaxGradient, "", SoftmaxGradient);

const FusedKernels masked_softmax_kernels("HabanaMaskedSoftmax");
const FusedKernels softmax_grad_kernels("HabanaSoftmaxGrad");
const FusedKernels log_softmax_grad_kernels("HabanaLogSoftmaxGrad");

}  // namespace hpu
