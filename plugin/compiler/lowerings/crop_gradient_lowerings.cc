// Lowerings of the gradients of CropAndResize, which tf2xla lacks.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/lowerings/crop_coordinates.h"
#include "tensorflow/compiler/tf2xla/type_util.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/array2d.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/slicing.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"
#include "xla/util.h"

namespace hpu {
namespace {

using tensorflow::XlaOpKernelContext;
using xla::XlaOp;
using Dims = std::vector<int64_t>;

// Crops [boxes, rows, columns, channels] of images [batch, height, width, channels].
struct CropSizes {
  Dims crops;
  Dims images;

  bool empty() const { return xla::Product(crops) == 0 || xla::Product(images) == 0; }
};

// `images_name`: the argument that sets the images' shape.
absl::Status CheckInputs(absl::string_view op, absl::string_view images_name, const xla::Shape& gradient,
                         const xla::Shape& boxes, const xla::Shape& image_of_box, absl::Span<const int64_t> images) {
  if (gradient.dimensions_size() != 4 || gradient.dimensions(1) <= 0 || gradient.dimensions(2) <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(op, ": grads must have shape [boxes, height, width, depth] with positive height and width, got ",
                     gradient.ToString()));
  }
  const int64_t count = gradient.dimensions(0);
  if (boxes.dimensions_size() != 2 || boxes.dimensions(0) != count || boxes.dimensions(1) != 4) {
    return absl::InvalidArgumentError(absl::StrCat(op, ": boxes must have shape [", count, ", 4], as grads has ", count,
                                                   " crops, got ", boxes.ToString()));
  }
  if (image_of_box.dimensions_size() != 1 || image_of_box.dimensions(0) != count) {
    return absl::InvalidArgumentError(absl::StrCat(op, ": box_ind must have shape [", count, "], as grads has ", count,
                                                   " crops, got ", image_of_box.ToString()));
  }
  if (images.size() != 4 || images[0] < 0 || images[1] <= 0 || images[2] <= 0 || images[3] != gradient.dimensions(3)) {
    return absl::InvalidArgumentError(
        absl::StrCat(op, ": ", images_name,
                     " must be [batch, height, width, depth] with batch >= 0, height and width > 0 and depth ",
                     gradient.dimensions(3), " (the depth of grads), got [", absl::StrJoin(images, ","), "]"));
  }
  return absl::OkStatus();
}

// Integral coordinates of the two pixels around each sampling coordinate along one axis, and the second pixel's weight.
struct Between {
  explicit Between(const SamplingCoordinates& coordinates)
      : inside(coordinates.inside),
        first(xla::Floor(coordinates.value)),
        second(xla::Ceil(coordinates.value)),
        fraction(coordinates.value - first) {}

  const XlaOp inside;
  const XlaOp first;
  const XlaOp second;
  const XlaOp fraction;
};

// Gradient of the images. `gradient`: gradient of the crops.
XlaOp ImageGradient(XlaOp gradient, const Between& rows, const Between& columns, XlaOp image_of_box,
                    const CropSizes& sizes) {
  const Dims pixels(sizes.crops.begin(), sizes.crops.end() - 1);
  const int64_t count = xla::Product(pixels), channels = sizes.crops[3];
  const auto by_rows = [&](XlaOp value) { return xla::BroadcastInDim(value, pixels, {0, 1}); };
  const auto by_columns = [&](XlaOp value) { return xla::BroadcastInDim(value, pixels, {0, 2}); };
  const XlaOp inside = xla::And(by_rows(rows.inside), by_columns(columns.inside));
  const XlaOp one = xla::ScalarLike(gradient, 1);

  xla::ScatterDimensionNumbers numbers;
  numbers.add_update_window_dims(1);
  numbers.add_inserted_window_dims(0);
  numbers.add_scatter_dims_to_operand_dims(0);
  numbers.set_index_vector_dim(1);
  const xla::XlaComputation add = xla::CreateScalarAddComputation(xla::F32, gradient.builder());
  XlaOp images =
      xla::Broadcast(xla::Zero(gradient.builder(), xla::F32), {xla::Product(sizes.images) / channels, channels});
  for (const bool below : {false, true}) {
    for (const bool right : {false, true}) {
      const XlaOp weight = by_rows(below ? rows.fraction : one - rows.fraction) *
                           by_columns(right ? columns.fraction : one - columns.fraction);
      const XlaOp pixel = CropPixel(image_of_box, below ? rows.second : rows.first,
                                    right ? columns.second : columns.first, sizes.images[1], sizes.images[2], pixels);
      // Pixels outside the image or without weight have index -1, which scatter ignores.
      const XlaOp counts = xla::And(inside, xla::Gt(weight, xla::ZerosLike(weight)));
      const XlaOp index = xla::Select(counts, pixel, xla::FullLike(pixel, -1));
      const XlaOp updates = xla::Mul(gradient, weight, {0, 1, 2});
      images =
          xla::Scatter(images, xla::Reshape(index, {count, 1}), xla::Reshape(updates, {count, channels}), add, numbers);
    }
  }
  return xla::Reshape(images, sizes.images);
}

// Gradients of y and x, concatenated along dimension 1: [boxes, rows + columns]. `gradient`: gradient of the crops.
XlaOp CoordinatesGradient(XlaOp gradient, XlaOp images, const Between& rows, const Between& columns, XlaOp image_of_box,
                          const CropSizes& sizes) {
  const CropReader reader(images, xla::ShapeUtil::MakeShape(xla::F32, sizes.images), image_of_box);
  const auto at = [&](XlaOp row, XlaOp column) { return reader.At(row, column, sizes.crops); };
  const XlaOp top_left = at(rows.first, columns.first), top_right = at(rows.first, columns.second),
              bottom_left = at(rows.second, columns.first), bottom_right = at(rows.second, columns.second);
  const auto mix = [&](XlaOp first, XlaOp second, XlaOp weight, int64_t dimension) {
    return xla::Mul(first, xla::ScalarLike(weight, 1) - weight, {0, dimension}) +
           xla::Mul(second, weight, {0, dimension});
  };
  const XlaOp zero = xla::ZerosLike(image_of_box);
  const XlaOp known =
      xla::And(xla::Ge(image_of_box, zero), xla::Lt(image_of_box, xla::FullLike(image_of_box, sizes.images[0])));
  const XlaOp counts =
      xla::And(xla::BroadcastInDim(known, sizes.crops, {0}), xla::BroadcastInDim(rows.inside, sizes.crops, {0, 1}),
               xla::BroadcastInDim(columns.inside, sizes.crops, {0, 2}));
  const auto sum = [&](XlaOp slope, int64_t of) {  // over all dimensions except boxes and `of`
    const XlaOp products = xla::Select(counts, gradient * slope, xla::ZerosLike(gradient));
    return xla::Reduce(products, xla::Zero(gradient.builder(), xla::F32),
                       xla::CreateScalarAddComputation(xla::F32, gradient.builder()), {3 - of, 3});
  };
  const XlaOp by_y = sum(mix(bottom_left - top_left, bottom_right - top_right, columns.fraction, 2), 1);
  const XlaOp by_x = sum(mix(top_right - top_left, bottom_right - bottom_left, rows.fraction, 1), 2);
  return xla::ConcatInDim(gradient.builder(), {by_y, by_x}, 1);
}

class CropImageGradientLowering : public tensorflow::XlaOpKernel {
 public:
  explicit CropImageGradientLowering(tensorflow::OpKernelConstruction* construction) : XlaOpKernel(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("method", &method_));
    OP_REQUIRES(construction, method_ == "bilinear" || method_ == "nearest",
                absl::InvalidArgumentError(
                    absl::StrCat(type_string(), ": method must be 'bilinear' or 'nearest', got '", method_, "'")));
  }

  void Compile(XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> gradient = context->InputXlaShape(0), boxes = context->InputXlaShape(1),
                                     image_of_box = context->InputXlaShape(2);
    for (const auto* shape : {&gradient, &boxes, &image_of_box}) OP_REQUIRES_OK(context, shape->status());
    CropSizes sizes;
    OP_REQUIRES_OK(context, context->ConstantInputAsIntVector(3, &sizes.images));
    OP_REQUIRES_OK(context, CheckInputs(type_string(), "image_size", *gradient, *boxes, *image_of_box, sizes.images));
    sizes.crops.assign(gradient->dimensions().begin(), gradient->dimensions().end());
    xla::PrimitiveType type;
    OP_REQUIRES_OK(context, tensorflow::DataTypeToPrimitiveType(context->expected_output_dtype(0), &type));
    if (sizes.empty()) {
      return context->SetOutput(0, xla::Broadcast(xla::Zero(context->builder(), type), sizes.images));
    }
    const auto between = [&](int64_t direction) {
      SamplingCoordinates coordinates =
          SamplingCoordinatesOf(context->Input(1), sizes.crops[0], direction, sizes.crops[direction + 1],
                                sizes.images[direction + 1], CropScale::kDivided);
      if (method_ == "nearest") coordinates.value = xla::Round(coordinates.value);
      return Between(coordinates);
    };
    const XlaOp of_images = ImageGradient(context->Input(0), between(0), between(1), context->Input(2), sizes);
    context->SetOutput(0, xla::ConvertElementType(of_images, type));
  }

 private:
  std::string method_;
};

// Derivatives of a crop's sampling coordinates with respect to the start and the end of its box: [pixels, 2].
XlaOp SharesOf(xla::XlaBuilder* builder, int64_t pixels, int64_t length) {
  xla::Array2D<float> shares(pixels, 2);
  const float last = static_cast<float>(length - 1);
  const float step = pixels > 1 ? last / static_cast<float>(pixels - 1) : 0;
  for (int64_t i = 0; i < pixels; ++i) {
    shares(i, 1) = pixels > 1 ? static_cast<float>(i) * step : 0.5f * last;
    shares(i, 0) = last - shares(i, 1);
  }
  return xla::ConstantR2FromArray2D(builder, shares);
}

class CropBoxesGradientLowering : public tensorflow::XlaOpKernel {
 public:
  explicit CropBoxesGradientLowering(tensorflow::OpKernelConstruction* construction) : XlaOpKernel(construction) {}

  void Compile(XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> gradient = context->InputXlaShape(0), images = context->InputXlaShape(1),
                                     boxes = context->InputXlaShape(2), image_of_box = context->InputXlaShape(3);
    for (const auto* shape : {&gradient, &images, &boxes, &image_of_box}) OP_REQUIRES_OK(context, shape->status());
    OP_REQUIRES_OK(context, CheckInputs(type_string(), "the shape of image", *gradient, *boxes, *image_of_box,
                                        images->dimensions()));
    CropSizes sizes;
    sizes.crops.assign(gradient->dimensions().begin(), gradient->dimensions().end());
    sizes.images.assign(images->dimensions().begin(), images->dimensions().end());
    const int64_t count = sizes.crops[0], rows = sizes.crops[1], columns = sizes.crops[2];
    if (sizes.empty()) {
      return context->SetOutput(0, xla::Broadcast(xla::Zero(context->builder(), xla::F32), {count, 4}));
    }
    const auto between = [&](int64_t direction) {
      return Between(SamplingCoordinatesOf(context->Input(2), count, direction, sizes.crops[direction + 1],
                                           sizes.images[direction + 1], CropScale::kMultiplied));
    };
    const XlaOp of_coordinates =
        CoordinatesGradient(context->Input(0), xla::ConvertElementType(context->Input(1), xla::F32), between(0),
                            between(1), context->Input(3), sizes);
    const auto sides = [&](int64_t begin, int64_t pixels, int64_t length) {
      const XlaOp by_coordinate = xla::SliceInDim(of_coordinates, begin, begin + pixels, 1, 1);
      const XlaOp shares = SharesOf(context->builder(), pixels, length);
      xla::PrecisionConfig precision;
      precision.add_operand_precision(xla::PrecisionConfig::HIGHEST);
      precision.add_operand_precision(xla::PrecisionConfig::HIGHEST);
      return xla::Reshape(xla::Dot(by_coordinate, shares, &precision), {count, 2, 1});
    };
    const XlaOp y = sides(0, rows, sizes.images[1]), x = sides(rows, columns, sizes.images[2]);
    context->SetOutput(0, xla::Reshape(xla::ConcatInDim(context->builder(), {y, x}, 2), {count, 4}));
  }
};

REGISTER_XLA_OP(Name("CropAndResizeGradImage").Device(kCompilationDevice).CompileTimeConstantInput("image_size"),
                CropImageGradientLowering)
REGISTER_XLA_OP(Name("CropAndResizeGradBoxes").Device(kCompilationDevice), CropBoxesGradientLowering)

}  // namespace
}  // namespace hpu
