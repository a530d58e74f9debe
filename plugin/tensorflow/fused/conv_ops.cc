// HabanaConv2DWithPadding and its gradients: convolutions of an input with explicit zero padding.
#include <string>
#include <vector>

#include "plugin/base/status_macros.h"
#include "plugin/tensorflow/fused/fused_op.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"

namespace hpu {
namespace {

tensorflow::Status ShapeByInput(tensorflow::shape_inference::InferenceContext* c, int sizes) {
  tensorflow::shape_inference::ShapeHandle shape;
  HPU_RETURN_IF_ERROR(c->MakeShapeFromShapeTensor(sizes, &shape));
  HPU_RETURN_IF_ERROR(c->WithRank(shape, 4, &shape));
  c->set_output(0, shape);
  return tensorflow::OkStatus();
}

// The output's shape. TensorFlow's shape function requires Conv2D's padding attribute, which this op lacks.
tensorflow::Status ConvolutionShape(tensorflow::shape_inference::InferenceContext* c) {
  std::vector<int64_t> paddings, strides, dilations;
  std::string format;
  HPU_RETURN_IF_ERROR(c->GetAttr("paddings", &paddings));
  HPU_RETURN_IF_ERROR(c->GetAttr("strides", &strides));
  HPU_RETURN_IF_ERROR(c->GetAttr("dilations", &dilations));
  HPU_RETURN_IF_ERROR(c->GetAttr("data_format", &format));
  c->set_output(0, c->UnknownShapeOfRank(4));
  if (paddings.size() != 8 || strides.size() != 4 || dilations.size() != 4) return tensorflow::OkStatus();
  tensorflow::shape_inference::ShapeHandle input, filter;
  HPU_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &input));
  HPU_RETURN_IF_ERROR(c->WithRank(c->input(1), 4, &filter));
  const int channels = format == "NHWC" ? 3 : 1, first = format == "NHWC" ? 1 : 2;
  std::vector<tensorflow::shape_inference::DimensionHandle> sizes(4);
  sizes[0] = c->Dim(input, 0);
  sizes[channels] = c->Dim(filter, 3);
  for (int i = 0; i < 2; ++i) {
    const int at = first + i;
    HPU_RETURN_IF_ERROR(tensorflow::shape_inference::GetWindowedOutputSizeFromDimsV2(
        c, c->Dim(input, at), c->Dim(filter, i), dilations[at], strides[at], tensorflow::Padding::EXPLICIT,
        paddings[2 * at], paddings[2 * at + 1], &sizes[at]));
  }
  c->set_output(0, c->MakeShape(sizes));
  return tensorflow::OkStatus();
}

}  // namespace

#define HPU_CONV_ATTRS                                \
  .Attr("T: {bfloat16, half, float, double}")         \
      .Attr("paddings: list(int)")                    \
      .Attr("strides: list(int)")                     \
      .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'") \
      .Attr("dilations: list(int) = [1, 1, 1, 1]")

REGISTER_OP("HabanaConv2DWithPadding")
    .Input("input: T")
    .Input("filter: T")
    .Output("output: T") HPU_CONV_ATTRS.SetShapeFn(ConvolutionShape)
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
