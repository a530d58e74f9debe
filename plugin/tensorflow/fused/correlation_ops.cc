// HabanaCorrelation and HabanaCorrelationGrad: correlation of an image with scaled and shifted samples of another one.
//
// Published programs for Gaudi name the inputs and outputs of the ops (HabanaAI/Model-References 0.15, hpu_grads.py).
// This file derives the ops' meaning from these names and from the inputs of the gradient: planes of a surround image
// are sampled bilinearly at a grid, and correlated with the centre image.
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/tensorflow/fused/bilinear_text.h"
#include "plugin/tensorflow/fused/fused_op.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"

namespace hpu {
namespace {

using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

tensorflow::Status CorrelationShape(InferenceContext* c) {
  ShapeHandle image;
  HPU_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &image));
  HPU_RETURN_IF_ERROR(c->Merge(image, c->input(1), &image));
  ShapeHandle planes;
  HPU_RETURN_IF_ERROR(c->WithRank(c->input(2), 2, &planes));
  for (const int i : {3, 4}) HPU_RETURN_IF_ERROR(c->Merge(planes, c->input(i), &planes));
  const auto dim = [&](int i) { return c->Dim(image, i); };
  const DimensionHandle count = c->Dim(planes, 1);
  c->set_output(0, c->MakeShape({dim(0), dim(1), dim(2), count}));
  c->set_output(1, c->MakeShape({dim(0), count, dim(1), dim(2), dim(3)}));
  c->set_output(2, c->MakeShape({dim(0), count, dim(1), dim(2), c->MakeDim(2)}));
  return tensorflow::OkStatus();
}

tensorflow::Status CorrelationGradShape(InferenceContext* c) {
  c->set_output(0, c->input(1));
  c->set_output(1, c->input(1));
  return tensorflow::OkStatus();
}

// Statements for the indices of the pixels around each sample, [batch, planes, height, width], and for the weights,
// which have one more dimension. Requires grid_x and grid_y, [batch, planes, height, width] in float32.
std::string Corners() {
  std::string text = absl::StrCat(
      "\n shape = Shape(cntr)\n batch = ", Element("shape", 0), "\n height = ", Element("shape", 1),
      "\n width = ", Element("shape", 2), "\n channels = ", Element("shape", 3),
      Neighbours("x", "grid_x", "width", /*clamped=*/false), Neighbours("y", "grid_y", "height", /*clamped=*/false));
  for (const char* row : {"0", "1"}) {
    for (const char* column : {"0", "1"}) {
      absl::StrAppend(&text, "\n index", row, column, " = AddV2(Mul(y_index", row, ", width), x_index", column, ")");
      absl::StrAppend(&text, "\n part", row, column, " = ExpandDims(Mul(y_part", row, ", x_part", column,
                      "), -1)[Tdim=int32]");
    }
  }
  return text;
}

std::string Correlation() {
  std::string text = R"(
  wide_scales = ExpandDims(ExpandDims(Cast(scales)[DstT=float], -1)[Tdim=int32], -1)[Tdim=int32]
  wide_x = ExpandDims(ExpandDims(Cast(trans_x)[DstT=float], -1)[Tdim=int32], -1)[Tdim=int32]
  wide_y = ExpandDims(ExpandDims(Cast(trans_y)[DstT=float], -1)[Tdim=int32], -1)[Tdim=int32]
  columns = Cast(Range(0, width, 1))[DstT=float]
  rows = ExpandDims(Cast(Range(0, height, 1))[DstT=float], -1)[Tdim=int32]
  map_shape = Pack(batch, planes, height, width)
  planes_shape = Shape(scales)
  grid_x = BroadcastTo(AddV2(Mul(wide_scales, columns), wide_x), map_shape)
  grid_y = BroadcastTo(AddV2(Mul(wide_scales, rows), wide_y), map_shape)
)";
  absl::StrAppend(&text, "\n planes = ", Element("planes_shape", 1), Corners(), R"(
  pixels = Cast(Reshape(srnd, Pack(batch, Mul(height, width), channels)))[DstT=float]
)");
  for (const char* corner : {"00", "01", "10", "11"}) {
    absl::StrAppend(&text, "\n share", corner, " = Mul(GatherV2(pixels, index", corner,
                    ", 1)[batch_dims=1, Taxis=int32], part", corner, ")");
  }
  return absl::StrCat(text, R"(
  wide_interp = AddV2(AddV2(share00, share01), AddV2(share10, share11))
  products = Mul(wide_interp, ExpandDims(Cast(cntr)[DstT=float], 1)[Tdim=int32])
  by_plane = Sum(products, -1)[Tidx=int32]
  out = Cast(Transpose(by_plane, Pack(0, 2, 3, 1)[T=int32]))[DstT=$T]
  interp = Cast(wide_interp)[DstT=$T]
  grid = Pack(grid_x, grid_y)[axis=4]
)");
}

std::string CorrelationGrad() {
  std::string text = absl::StrCat(R"(
  grid_x = GatherV2(grid, 0, 4)[Tindices=int32, Taxis=int32]
  grid_y = GatherV2(grid, 1, 4)[Tindices=int32, Taxis=int32]
)",
                                  Corners(), R"(
  by_plane = Transpose(Cast(grad_in)[DstT=float], Pack(0, 3, 1, 2)[T=int32])
  grad = ExpandDims(by_plane, -1)[Tdim=int32]
  cntr_grad = Cast(Sum(Mul(grad, Cast(interp)[DstT=float]), 1)[Tidx=int32])[DstT=$T]
  sample_grads = Mul(grad, ExpandDims(Cast(cntr)[DstT=float], 1)[Tdim=int32])
  area = Mul(height, width)
  all_rows = Mul(batch, area)
  offset = Reshape(Mul(Range(0, batch, 1), area), Pack(batch, 1, 1, 1))
  rows_shape = Pack(-1, channels)
)");
  for (const char* corner : {"00", "01", "10", "11"}) {
    absl::StrAppend(&text, "\n rows", corner, " = Reshape(Mul(sample_grads, part", corner, "), rows_shape)");
    absl::StrAppend(&text, "\n ids", corner, " = Reshape(AddV2(index", corner, ", offset), Pack(-1)[T=int32])");
    absl::StrAppend(&text, "\n sum", corner, " = UnsortedSegmentSum(rows", corner, ", ids", corner, ", all_rows)");
  }
  return absl::StrCat(text, R"(
  sums = AddV2(AddV2(sum00, sum01), AddV2(sum10, sum11))
  srnd_grad = Cast(Reshape(sums, shape))[DstT=$T]
)");
}

}  // namespace

REGISTER_OP("HabanaCorrelation")
    .Input("cntr: T")
    .Input("srnd: T")
    .Input("scales: T")
    .Input("trans_x: T")
    .Input("trans_y: T")
    .Output("out: T")
    .Output("interp: T")
    .Output("grid: float")
    .Attr("T: {bfloat16, half, float}")
    .SetShapeFn(CorrelationShape)
    .Doc(R"doc(
Sums over channels of the products of cntr and bilinear samples of srnd, for each plane.

cntr: Centre image, [batch, height, width, channels].
srnd: Surround image of the same shape. Samples outside it are 0.
scales: [batch, planes]. Pixel (x, y) of a plane samples srnd at (scale * x + trans_x, scale * y + trans_y).
trans_x: [batch, planes], in pixels.
trans_y: [batch, planes], in pixels.
out: [batch, height, width, planes].
interp: The samples, [batch, planes, height, width, channels].
grid: The sampled coordinates x and y, [batch, planes, height, width, 2].
)doc");

REGISTER_OP("HabanaCorrelationGrad")
    .Input("grad_in: T")
    .Input("cntr: T")
    .Input("interp: T")
    .Input("grid: float")
    .Output("cntr_grad: T")
    .Output("srnd_grad: T")
    .Attr("T: {bfloat16, half, float}")
    .SetShapeFn(CorrelationGradShape)
    .Doc("Gradients of HabanaCorrelation with respect to cntr and srnd; interp and grid are results of the op.");

const FusedOp correlation("HabanaCorrelation", "", Correlation());
const FusedOp correlation_grad("HabanaCorrelationGrad", "", CorrelationGrad());

const FusedKernels correlation_kernels("HabanaCorrelation");
const FusedKernels correlation_grad_kernels("HabanaCorrelationGrad");

}  // namespace hpu
