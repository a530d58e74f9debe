// HabanaConv2DWithPadding and its gradients: convolutions of an input with explicit zero padding.
#include "plugin/tensorflow/fused/fused_op.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"

namespace hpu {
namespace {

tensorflow::Status ShapeByInput(tensorflow::shape_inference::InferenceContext* c, int sizes) {
  tensorflow::shape_inference::ShapeHandle shape;
  TF_RETURN_IF_ERROR(c->MakeShapeFromShapeTensor(sizes, &shape));
  TF_RETURN_IF_ERROR(c->WithRank(shape, 4, &shape));
  c->set_output(0, shape);
  return tensorflow::OkStatus();
}

}  // namespace

#define HPU_CONV_ATTRS                                \
  .Attr("T: {bfloat16, half, float, double}")         \
      .Attr("paddings: list(int)")                    \
      .Attr("strides: list(int)")                     \
      .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'") \
      .Attr("dilations: list(int) = [1, 1, 1, 1]")

// Shape inference finds only the rank. TensorFlow's shape function requires Conv2D's padding attribute, which this op
// lacks.
REGISTER_OP("HabanaConv2DWithPadding")
    .Input("input: T")
    .Input("filter: T")
    .Output("output: T") HPU_CONV_ATTRS
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* c) {
      c->set_output(0, c->UnknownShapeOfRank(4));
      return tensorflow::OkStatus();
    })
    .Doc(R"doc(
Two-dimensional convolution with explicit zero padding.

paddings: Numbers of zeros before and after each dimension, in data_format's order; 0 for batch and channels.
)doc");

REGISTER_OP("HabanaConv2DWithPaddingBackpropInput")
    .Input("input_sizes: int32")
    .Input("filter: T")
    .Input("out_backprop: T")
    .Output("output: T") HPU_CONV_ATTRS
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* c) { return ShapeByInput(c, 0); })
    .Doc(R"doc(
Gradient of HabanaConv2DWithPadding with respect to its input.

input_sizes: Shape of the input without padding.
)doc");

REGISTER_OP("HabanaConv2DWithPaddingBackpropFilter")
    .Input("input: T")
    .Input("filter_sizes: int32")
    .Input("out_backprop: T")
    .Output("output: T") HPU_CONV_ATTRS
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* c) { return ShapeByInput(c, 1); })
    .Doc("Gradient of HabanaConv2DWithPadding with respect to its filter.");

#undef HPU_CONV_ATTRS

const FusedOp conv("HabanaConv2DWithPadding", "", R"(
  output = Conv2D(input, filter)[padding=EXPLICIT, explicit_paddings=$paddings, strides=$strides, data_format=$data_format, dilations=$dilations]
)");

const FusedOp conv_input("HabanaConv2DWithPaddingBackpropInput", "", R"(
  output = Conv2DBackpropInput(input_sizes, filter, out_backprop)[padding=EXPLICIT, explicit_paddings=$paddings, strides=$strides, data_format=$data_format, dilations=$dilations]
)");

const FusedOp conv_filter("HabanaConv2DWithPaddingBackpropFilter", "", R"(
  output = Conv2DBackpropFilter(input, filter_sizes, out_backprop)[padding=EXPLICIT, explicit_paddings=$paddings, strides=$strides, data_format=$data_format, dilations=$dilations]
)");

const FusedKernels conv_with_padding_kernels("HabanaConv2DWithPadding");
const FusedKernels conv_with_padding_backprop_input_kernels("HabanaConv2DWithPaddingBackpropInput", {"input_sizes"});
const FusedKernels conv_with_padding_backprop_filter_kernels("HabanaConv2DWithPaddingBackpropFilter", {"filter_sizes"});

}  // namespace hpu
