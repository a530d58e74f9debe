// PyramidRoiAlign and PyramidRoiAlignGradImages: features of boxes from a pyramid of images.
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "plugin/base/status_macros.h"
#include "plugin/tensorflow/fused/bilinear_text.h"
#include "plugin/tensorflow/fused/fused_op.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/partial_tensor_shape.h"

namespace hpu {
namespace {

using tensorflow::NodeDef;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// Checks the shapes of the images, and returns their number.
absl::StatusOr<int> CheckImages(InferenceContext* c) {
  int count = 0;
  HPU_RETURN_IF_ERROR(c->GetAttr("N", &count));
  for (int i = 0; i < count; ++i) {
    ShapeHandle image;
    if (c->WithRank(c->input(i), 4, &image).ok()) continue;
    return absl::InvalidArgumentError(absl::StrCat("image ", i, " of the pyramid has shape ",
                                                   c->DebugString(c->input(i)),
                                                   "; expected [batch, height, width, channels]"));
  }
  return count;
}

tensorflow::Status AlignShape(InferenceContext* c) {
  const absl::StatusOr<int> images = CheckImages(c);
  HPU_RETURN_IF_ERROR(images.status());
  std::vector<int32_t> size;
  HPU_RETURN_IF_ERROR(c->GetAttr("output_size", &size));
  if (size.size() != 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("output_size has length ", size.size(), "; expected height and width"));
  }
  ShapeHandle boxes;
  HPU_RETURN_IF_ERROR(c->WithRank(c->input(*images + 1), 3, &boxes));
  c->set_output(0, c->MakeShape({c->Dim(boxes, 0), c->Dim(boxes, 1), c->MakeDim(size[0]), c->MakeDim(size[1]),
                                 c->RankKnown(c->input(0)) ? c->Dim(c->input(0), 3) : c->UnknownDim()}));
  return tensorflow::OkStatus();
}

tensorflow::Status AlignGradShape(InferenceContext* c) {
  const absl::StatusOr<int> images = CheckImages(c);
  HPU_RETURN_IF_ERROR(images.status());
  std::vector<tensorflow::PartialTensorShape> shapes;
  HPU_RETURN_IF_ERROR(c->GetAttr("image_pyramid_shapes", &shapes));
  if (!shapes.empty() && static_cast<int>(shapes.size()) != *images) {
    return absl::InvalidArgumentError(absl::StrCat("image_pyramid_shapes has length ", shapes.size(),
                                                   "; expected one [height, width] for each image, and N=", *images));
  }
  for (int i = 0; i < *images; ++i) {
    c->set_output(i, c->input(i));
    if (shapes.empty() || !c->RankKnown(c->input(i))) continue;
    for (int d = 0; d < 2; ++d) {
      const int64_t size = c->Value(c->Dim(c->input(i), d + 1));
      if (size >= 0 && (shapes[i].dims() != 2 || shapes[i].dim_size(d) != size)) {
        return absl::InvalidArgumentError(absl::StrCat("image_pyramid_shapes[", i, "]=", shapes[i].DebugString(),
                                                       " does not match image ", i, " of shape ",
                                                       c->DebugString(c->input(i)), "; expected [height, width]"));
      }
    }
  }
  return tensorflow::OkStatus();
}

std::string List(int count, std::string_view prefix) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(absl::StrCat(prefix, i));
  return absl::StrJoin(names, ", ");
}

// Statements for the sizes of the images, and for the indices and weights of the pixels of every sample. Requires
// statements for out_h and out_w, the numbers of features of a box.
std::string Samples(const NodeDef& node) {
  const int images = static_cast<int>(node.attr().at("N").i());
  std::string text;
  for (int i = 0; i < images; ++i) {
    absl::StrAppend(&text, "\n shape", i, " = Shape(images", i, ")");
    absl::StrAppend(&text, "\n h", i, " = ", Element(absl::StrCat("shape", i), 1));
    absl::StrAppend(&text, "\n w", i, " = ", Element(absl::StrCat("shape", i), 2));
    absl::StrAppend(&text, "\n area", i, " = Mul(h", i, ", w", i, ")");
  }
  absl::StrAppend(&text, "\n heights = Pack(", List(images, "h"), ")", "\n widths = Pack(", List(images, "w"), ")");
  absl::StrAppend(&text, "\n batch = ", Element("shape0", 0), "\n channels = ", Element("shape0", 3));
  absl::StrAppend(&text, R"(
  areas = Mul(heights, widths)
  starts = Cumsum(areas, 0)[exclusive=true, Tidx=int32]
  all_pixels = Sum(areas, 0)[Tidx=int32]
  box_shape = Shape(boxes)
)",
                  "\n boxes_of_sample = ", Element("box_shape", 1));
  absl::StrAppend(&text, "\n level = Minimum(Maximum(Reshape(box_to_level, Pack(batch, boxes_of_sample)), 0), ",
                  images - 1, ")");
  absl::StrAppend(&text, R"(
  height = GatherV2(heights, level, 0)[Taxis=int32]
  width = GatherV2(widths, level, 0)[Taxis=int32]
  start = GatherV2(starts, level, 0)[Taxis=int32]
  wide_boxes = Cast(boxes)[DstT=float]
)");
  // Factor of the coordinates, by direction.
  const bool absolute = node.attr().at("use_abs_coords").b();
  const bool of_input = node.attr().at("scale_to_level").b();
  // A feature pyramid starts at level 2: the first image has a quarter of the width of the network's input.
  constexpr char kOfLevel[] = "RealDiv(1, Pow(2, AddV2(Cast(level)[DstT=float], 2)))";
  for (const auto& [prefix, size, first] : {std::tuple("y", "height", 0), std::tuple("x", "width", 1)}) {
    absl::StrAppend(&text, "\n ", prefix, "_scale = ",
                    !absolute  ? absl::StrCat("Cast(", size, ")[DstT=float]")
                    : of_input ? std::string(kOfLevel)
                               : absl::StrCat("Cast(OnesLike(", size, "))[DstT=float]"));
    for (const auto& [name, index] : {std::pair("begin", first), std::pair("end", first + 2)}) {
      absl::StrAppend(&text, "\n ", prefix, "_", name, " = Mul(GatherV2(wide_boxes, ", index,
                      ", 2)[Tindices=int32, Taxis=int32], ", prefix, "_scale)");
    }
    const std::string count = absl::StrCat(prefix, "_count");
    absl::StrAppend(&text, "\n ", count, " = Mul(out_", prefix == std::string("y") ? "h" : "w", ", $sampling_ratio)");
    absl::StrAppend(&text, "\n ", prefix, "_middles = RealDiv(AddV2(Cast(Range(0, ", count,
                    ", 1))[DstT=float], 0.5), Cast(", count, ")[DstT=float])");
    absl::StrAppend(&text, "\n ", prefix, "s = AddV2(ExpandDims(", prefix,
                    "_begin, -1)[Tdim=int32], Mul(ExpandDims(Sub(", prefix, "_end, ", prefix,
                    "_begin), -1)[Tdim=int32], ", prefix, "_middles))");
    absl::StrAppend(&text, Neighbours(prefix, absl::StrCat(prefix, "s"), size, /*clamped=*/true));
  }
  for (const char* row : {"0", "1"}) {
    absl::StrAppend(&text, "\n line", row, " = AddV2(ExpandDims(start, -1)[Tdim=int32], Mul(y_index", row,
                    ", ExpandDims(width, -1)[Tdim=int32]))");
    for (const char* column : {"0", "1"}) {
      absl::StrAppend(&text, "\n index", row, column, " = AddV2(ExpandDims(line", row,
                      ", -1)[Tdim=int32], ExpandDims(x_index", column, ", 2)[Tdim=int32])");
      absl::StrAppend(&text, "\n part", row, column, " = ExpandDims(Mul(ExpandDims(y_part", row,
                      ", -1)[Tdim=int32], ExpandDims(x_part", column, ", 2)[Tdim=int32]), -1)[Tdim=int32]");
    }
  }
  return absl::StrCat(text, R"(
  is_valid = Less(ExpandDims(Range(0, boxes_of_sample, 1), 0)[Tdim=int32], Reshape(num_boxes, Pack(batch, 1)))
  valid = Cast(Reshape(is_valid, Pack(batch, boxes_of_sample, 1, 1, 1)))[DstT=float]
  samples_shape = Pack(batch, boxes_of_sample, out_h, $sampling_ratio, out_w, $sampling_ratio, channels)
)");
}

std::string Align(const NodeDef& node) {
  const int images = static_cast<int>(node.attr().at("N").i());
  std::string text =
      absl::StrCat("out_h = ", Element("$output_size", 0), "\n out_w = ", Element("$output_size", 1), Samples(node));
  for (int i = 0; i < images; ++i) {
    absl::StrAppend(&text, "\n flat", i, " = Reshape(images", i, ", Pack(batch, area", i, ", channels))");
  }
  absl::StrAppend(
      &text, "\n pixels = ",
      images == 1 ? "Identity(flat0)" : absl::StrCat("ConcatV2(", List(images, "flat"), ", 1)[Tidx=int32]"));
  for (const char* corner : {"00", "01", "10", "11"}) {
    absl::StrAppend(&text, "\n share", corner, " = Mul(Cast(GatherV2(pixels, index", corner,
                    ", 1)[batch_dims=1, Taxis=int32])[DstT=float], part", corner, ")");
  }
  return absl::StrCat(text, R"(
  samples = AddV2(AddV2(share00, share01), AddV2(share10, share11))
  means = Mean(Mean(Reshape(samples, samples_shape), 5)[Tidx=int32], 3)[Tidx=int32]
  features = Cast(Mul(means, valid))[DstT=$T]
)");
}

std::string AlignGrad(const NodeDef& node) {
  const int images = static_cast<int>(node.attr().at("N").i());
  std::string text = absl::StrCat("grad_shape = Shape(grad_in)\n out_h = ", Element("grad_shape", 2),
                                  "\n out_w = ", Element("grad_shape", 3), Samples(node));
  // Each sample has an equal share of the gradient of its feature.
  absl::StrAppend(&text, R"(
  grad = Mul(Cast(grad_in)[DstT=float], valid)
  shares = ExpandDims(ExpandDims(RealDiv(grad, $samples), 3)[Tdim=int32], 5)[Tdim=int32]
  grads_shape = Pack(batch, boxes_of_sample, y_count, x_count, channels)
  grads = Reshape(BroadcastTo(shares, samples_shape), grads_shape)
  offsets = Mul(Range(0, batch, 1), all_pixels)
  offset = Reshape(offsets, Pack(batch, 1, 1, 1))
  rows_shape = Pack(-1, channels)
  all_rows = Mul(batch, all_pixels)
)");
  const int64_t ratio = node.attr().at("sampling_ratio").i();
  absl::StrReplaceAll({{"$samples", absl::StrCat(ratio * ratio)}}, &text);
  for (const char* corner : {"00", "01", "10", "11"}) {
    absl::StrAppend(&text, "\n rows", corner, " = Reshape(Mul(grads, part", corner, "), rows_shape)");
    absl::StrAppend(&text, "\n ids", corner, " = Reshape(AddV2(index", corner, ", offset), Pack(-1)[T=int32])");
    absl::StrAppend(&text, "\n sum", corner, " = UnsortedSegmentSum(rows", corner, ", ids", corner, ", all_rows)");
  }
  absl::StrAppend(&text, R"(
  sums = AddV2(AddV2(sum00, sum01), AddV2(sum10, sum11))
  pixel_grads = Reshape(sums, Pack(batch, all_pixels, channels))
)");
  for (int i = 0; i < images; ++i) {
    absl::StrAppend(&text, "\n part_of", i, " = Slice(pixel_grads, Pack(0, ", Element("starts", i),
                    ", 0), Pack(batch, area", i, ", channels))[Index=int32]");
    absl::StrAppend(&text, "\n image_grads", i, " = Cast(Reshape(part_of", i, ", shape", i, "))[DstT=$T]");
  }
  return text;
}

}  // namespace

REGISTER_OP("PyramidRoiAlign")
    .Input("images: N * T")
    .Input("num_boxes: int32")
    .Input("boxes: U")
    .Input("box_to_level: int32")
    .Output("features: T")
    .Attr("N: int >= 1")
    .Attr("T: {bfloat16, half, float}")
    .Attr("U: {bfloat16, half, float} = DT_FLOAT")
    .Attr("output_size: list(int) = [7, 7]")
    .Attr("sampling_ratio: int >= 1 = 1")
    .Attr("use_abs_coords: bool = true")
    .Attr("scale_to_level: bool = true")
    .SetShapeFn(AlignShape)
    .Doc(R"doc(
Features of each box, resampled bilinearly: [batch, boxes, height, width, channels]. The type of the boxes need not be
the type of the images: coordinates keep float32 in a model converted to bfloat16.

images: One per level, [batch, height, width, channels]; each is half as large as the previous one.
num_boxes: [batch, 1], number of valid boxes per sample; the features of the other boxes are 0.
boxes: [batch, boxes, 4]: y1, x1, y2, x2. No gradient flows into the boxes.
box_to_level: [batch, boxes, 1], index of each box's image, clamped to the images.
output_size: Height and width of the features of a box.
sampling_ratio: Samples per direction; a feature is the mean of its samples.
use_abs_coords: Coordinates are in pixels; otherwise they are relative, from 0 to 1.
scale_to_level: Absolute coordinates are pixels of the network's input rather than of the box's own image. The first
  image has a quarter of the input's width. Ignored for relative coordinates.
)doc");

REGISTER_OP("PyramidRoiAlignGradImages")
    .Input("images: N * T")
    .Input("grad_in: T")
    .Input("num_boxes: int32")
    .Input("boxes: U")
    .Input("box_to_level: int32")
    .Output("image_grads: N * T")
    .Attr("N: int >= 1")
    .Attr("T: {bfloat16, half, float}")
    .Attr("U: {bfloat16, half, float} = DT_FLOAT")
    .Attr("image_pyramid_shapes: list(shape) = []")
    .Attr("sampling_ratio: int >= 1 = 1")
    .Attr("use_abs_coords: bool = true")
    .Attr("scale_to_level: bool = true")
    .SetShapeFn(AlignGradShape)
    .Doc(R"doc(
Gradients of PyramidRoiAlign with respect to the images, given the gradient grad_in of the features.

image_pyramid_shapes: Expected height and width of each image; empty: not checked.
)doc");

const FusedOp pyramid_roi_align("PyramidRoiAlign", Align);
const FusedOp pyramid_roi_align_grad_images("PyramidRoiAlignGradImages", AlignGrad);

const FusedKernels pyramid_roi_align_kernels("PyramidRoiAlign");
const FusedKernels pyramid_roi_align_grad_images_kernels("PyramidRoiAlignGradImages");

}  // namespace hpu
