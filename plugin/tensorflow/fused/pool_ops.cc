// HabanaMaxPool, HabanaResizeNearestNeighbor, their gradients, and HabanaSparseSegmentSum: ops that bf16 recipes of
// published models name. Each computes TensorFlow's op of the same name.
#include "plugin/base/status_macros.h"
#include "plugin/tensorflow/fused/fused_op.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"

namespace hpu {
namespace {

using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

tensorflow::Status UnchangedFirstInput(InferenceContext* c) {
  c->set_output(0, c->input(0));
  return tensorflow::OkStatus();
}

// Shape [batch, size[0], size[1], channels] of images [batch, height, width, channels].
tensorflow::Status ResizedShape(InferenceContext* c) {
  ShapeHandle images;
  HPU_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &images));
  ShapeHandle size;
  HPU_RETURN_IF_ERROR(c->MakeShapeFromShapeTensor(1, &size));
  HPU_RETURN_IF_ERROR(c->WithRank(size, 2, &size));
  c->set_output(0, c->MakeShape({c->Dim(images, 0), c->Dim(size, 0), c->Dim(size, 1), c->Dim(images, 3)}));
  return tensorflow::OkStatus();
}

tensorflow::Status SegmentSumShape(InferenceContext* c) {
  ShapeHandle data;
  HPU_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &data));
  DimensionHandle segments;
  HPU_RETURN_IF_ERROR(c->MakeDimForScalarInput(3, &segments));
  ShapeHandle rest;
  HPU_RETURN_IF_ERROR(c->Subshape(data, 1, &rest));
  ShapeHandle result;
  HPU_RETURN_IF_ERROR(c->Concatenate(c->Vector(segments), rest, &result));
  c->set_output(0, result);
  return tensorflow::OkStatus();
}

}  // namespace

REGISTER_OP("HabanaMaxPool")
    .Input("input: T")
    .Output("output: T")
    .Attr("T: {bfloat16, half, float}")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("data_format: {'NHWC'} = 'NHWC'")
    .SetShapeFn(tensorflow::shape_inference::MaxPoolShape)
    .Doc("MaxPool, channels last.");

REGISTER_OP("HabanaMaxPoolGrad")
    .Input("orig_input: T")
    .Input("orig_output: T")
    .Input("grad: T")
    .Output("output: T")
    .Attr("T: {bfloat16, half, float}")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("data_format: {'NHWC'} = 'NHWC'")
    .SetShapeFn(UnchangedFirstInput)
    .Doc("Gradient of HabanaMaxPool.");

REGISTER_OP("HabanaResizeNearestNeighbor")
    .Input("images: T")
    .Input("size: int32")
    .Output("resized_images: T")
    .Attr("T: {bfloat16, half, float}")
    .Attr("align_corners: bool = false")
    .Attr("half_pixel_centers: bool = false")
    .SetShapeFn(ResizedShape)
    .Doc("ResizeNearestNeighbor.");

REGISTER_OP("HabanaResizeNearestNeighborGrad")
    .Input("grads: T")
    .Input("size: int32")
    .Output("output: T")
    .Attr("T: {bfloat16, half, float}")
    .Attr("align_corners: bool = false")
    .Attr("half_pixel_centers: bool = false")
    .SetShapeFn(ResizedShape)
    .Doc("Gradient of HabanaResizeNearestNeighbor; size: height and width of the images.");

REGISTER_OP("HabanaSparseSegmentSum")
    .Input("data: T")
    .Input("indices: int32")
    .Input("segment_ids: int32")
    .Input("num_segments: int32")
    .Output("output: T")
    .Attr("T: {bfloat16, half, float}")
    .SetShapeFn(SegmentSumShape)
    .Doc(R"doc(
Sums of rows: output[s] is the sum of data[indices[i]] over all i with segment_ids[i] == s.

num_segments: A scalar; the number of rows of the output.
)doc");

const FusedOp max_pool("HabanaMaxPool", "", R"(
  output = MaxPool(input)[ksize=$ksize, strides=$strides, padding=$padding, data_format=$data_format]
)");

const FusedOp max_pool_grad("HabanaMaxPoolGrad", "", R"(
  output = MaxPoolGrad(orig_input, orig_output, grad)[ksize=$ksize, strides=$strides, padding=$padding, data_format=$data_format]
)");

const FusedOp resize_nearest("HabanaResizeNearestNeighbor", "", R"(
  resized_images = ResizeNearestNeighbor(images, size)[align_corners=$align_corners, half_pixel_centers=$half_pixel_centers]
)");

const FusedOp resize_nearest_grad("HabanaResizeNearestNeighborGrad", "", R"(
  output = ResizeNearestNeighborGrad(grads, size)[align_corners=$align_corners, half_pixel_centers=$half_pixel_centers]
)");

const FusedOp sparse_segment_sum("HabanaSparseSegmentSum", "", R"(
  output = UnsortedSegmentSum(GatherV2(data, indices, 0)[Taxis=int32], segment_ids, num_segments)
)");

const FusedKernels max_pool_kernels("HabanaMaxPool");
const FusedKernels max_pool_grad_kernels("HabanaMaxPoolGrad");
const FusedKernels resize_nearest_kernels("HabanaResizeNearestNeighbor", {"size"});
const FusedKernels resize_nearest_grad_kernels("HabanaResizeNearestNeighborGrad", {"size"});
const FusedKernels sparse_segment_sum_kernels("HabanaSparseSegmentSum", {"num_segments"});

}  // namespace hpu
