// Lowerings of TensorFlow's resize ops and their gradients, in place of tf2xla's lowerings.
//
// tf2xla's lowering of ResizeBilinear is wrong for some sizes. An example is 8 x 8 to 16 x 24: three times as large in
// one direction, and larger in the other. tf2xla has no gradient of nearest-neighbour interpolation, and no bicubic or
// area interpolation. These lowerings multiply an image by one matrix per direction, and a gradient by the transposed
// matrices. In matrix products, an infinite pixel makes its whole row and column NaN. The emulator's kernel
// (sparse_product) adds only pixels with a nonzero weight.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/lowerings/image_product.h"
#include "tensorflow/compiler/tf2xla/type_util.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"
#include "xla/client/lib/math.h"
#include "xla/client/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

enum class Interpolation { kNearest, kBilinear, kBicubic, kArea };

// Weight of a pixel at `distance` (0 to 2): Keys' cubic convolution, whose slope at a distance of 1 is `slope`.
xla::XlaOp CubicWeight(xla::XlaOp distance, float slope) {
  const auto number = [distance](float value) { return xla::ScalarLike(distance, value); };
  const xla::XlaOp square = distance * distance;
  const xla::XlaOp near = (number(slope + 2) * distance - number(slope + 3)) * square + number(1);
  const xla::XlaOp far =
      ((number(slope) * distance - number(5 * slope)) * distance + number(8 * slope)) * distance - number(4 * slope);
  return xla::Select(xla::Le(distance, number(1)), near, far);
}

// Weights of `from` source pixels for `to` result pixels: [to, from], float32.
class Weights {
 public:
  Weights(Interpolation interpolation, bool align_corners, bool half_pixel_centers)
      : interpolation_(interpolation), align_corners_(align_corners), half_pixel_centers_(half_pixel_centers) {}

  xla::XlaOp Matrix(xla::XlaBuilder* builder, int64_t to, int64_t from) const {
    const xla::Shape shape = xla::ShapeUtil::MakeShape(xla::F32, {to, from});
    if (interpolation_ == Interpolation::kArea) return Area(builder, shape);
    const xla::XlaOp place = Source(builder, xla::Iota(builder, shape, 0), to, from);
    const xla::XlaOp pixel = xla::Iota(builder, shape, 1);
    if (interpolation_ == Interpolation::kNearest) {
      return xla::ConvertElementType(xla::Eq(place, pixel), xla::F32);
    }
    if (interpolation_ == Interpolation::kBicubic) return Cubic(builder, place, pixel, from);
    // Linear interpolation between the two nearest pixels; other pixels are at least 1 away.
    const xla::XlaOp distance = xla::Abs(place - pixel);
    return xla::Max(xla::ScalarLike(distance, 1.0f) - distance, xla::ScalarLike(distance, 0.0f));
  }

 private:
  float Scale(int64_t to, int64_t from) const {
    const bool corners = align_corners_ && to > 1;
    return corners ? static_cast<float>(from - 1) / static_cast<float>(to - 1) : static_cast<float>(from) / to;
  }

  // A pixel's weight is its overlap with the averaged area. The last pixel also covers the area beyond the image.
  xla::XlaOp Area(xla::XlaBuilder* builder, const xla::Shape& shape) const {
    const int64_t to = shape.dimensions(0), from = shape.dimensions(1);
    // With align_corners and a single source pixel, the averaged area is empty.
    if (Scale(to, from) == 0) return xla::Broadcast(xla::ConstantR0<float>(builder, 1), shape.dimensions());
    const xla::XlaOp result = xla::Iota(builder, shape, 0), pixel = xla::Iota(builder, shape, 1);
    const auto number = [pixel](float value) { return xla::ScalarLike(pixel, value); };
    const xla::XlaOp scale = number(Scale(to, from)), one = number(1);
    const xla::XlaOp begin = result * scale, end = (result + one) * scale;
    const xla::XlaOp is_last = xla::Eq(pixel, number(static_cast<float>(from - 1)));
    const xla::XlaOp border = xla::Select(is_last, xla::Max(end, pixel + one), pixel + one);
    return xla::Max(xla::Min(border, end) - xla::Max(pixel, begin), number(0)) / scale;
  }

  // Each result pixel is a weighted sum of four pixels. The border pixel receives the weight of pixels beyond the
  // border; with half_pixel_centers, the pixels inside share this weight. As in TensorFlow's kernels, fractions are
  // rounded to 1/1024.
  xla::XlaOp Cubic(xla::XlaBuilder* builder, xla::XlaOp place, xla::XlaOp pixel, int64_t from) const {
    const xla::XlaOp zero = xla::ZerosLike(place), last = xla::ScalarLike(place, static_cast<float>(from - 1));
    const xla::XlaOp first = xla::Floor(place);
    const xla::XlaOp steps = xla::ScalarLike(place, 1024.0f);
    const xla::XlaOp fraction = xla::RoundToEven((place - first) * steps) / steps;
    xla::XlaOp weights = zero;
    for (const float offset : {-1.0f, 0.0f, 1.0f, 2.0f}) {
      const xla::XlaOp other = first + xla::ScalarLike(first, offset);
      const xla::XlaOp distance = xla::Abs(fraction - xla::ScalarLike(fraction, offset));
      const xla::XlaOp weight = CubicWeight(distance, half_pixel_centers_ ? -0.5f : -0.75f);
      const xla::XlaOp at = half_pixel_centers_ ? other : xla::Clamp(zero, other, last);
      weights = weights + xla::Select(xla::Eq(at, pixel), weight, zero);
    }
    if (!half_pixel_centers_) return weights;
    const xla::XlaOp sum = xla::Reduce(weights, xla::ConstantR0<float>(builder, 0),
                                       xla::CreateScalarAddComputation(xla::F32, builder), {1});
    return xla::Div(weights, sum, {0});
  }

  // Sampling coordinate of each result pixel, as in TensorFlow's CPU kernels.
  xla::XlaOp Source(xla::XlaBuilder* builder, xla::XlaOp pixel, int64_t to, int64_t from) const {
    const float scale = Scale(to, from);
    const auto number = [pixel](float value) { return xla::ScalarLike(pixel, value); };
    xla::XlaOp place = half_pixel_centers_ ? (pixel + number(0.5f)) * number(scale) : pixel * number(scale);
    if (interpolation_ == Interpolation::kNearest) {
      place = align_corners_ ? xla::Floor(place + number(0.5f)) : xla::Floor(place);
    } else if (half_pixel_centers_) {
      place = place - number(0.5f);
    }
    if (interpolation_ == Interpolation::kBicubic) return place;
    return xla::Clamp(xla::ConstantR0<float>(builder, 0), place,
                      xla::ConstantR0<float>(builder, static_cast<float>(from - 1)));
  }

  const Interpolation interpolation_;
  const bool align_corners_;
  const bool half_pixel_centers_;
};

template <Interpolation kInterpolation, bool kGradient>
class ResizeLowering : public tensorflow::XlaOpKernel {
 public:
  explicit ResizeLowering(tensorflow::OpKernelConstruction* construction) : XlaOpKernel(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("align_corners", &align_corners_));
    if (kInterpolation == Interpolation::kArea) return;
    OP_REQUIRES_OK(construction, construction->GetAttr("half_pixel_centers", &half_pixel_centers_));
    // Only the CPU kernel of ResizeNearestNeighborGrad accepts both attributes. The error is TensorFlow's own text.
    OP_REQUIRES(construction,
                !half_pixel_centers_ || !align_corners_ || (kGradient && kInterpolation == Interpolation::kNearest),
                absl::InvalidArgumentError("If half_pixel_centers is True, align_corners must be False."));
  }

  void Compile(tensorflow::XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(0);
    OP_REQUIRES_OK(context, shape.status());
    OP_REQUIRES(context, shape->rank() == 4,
                absl::InvalidArgumentError(
                    absl::StrCat(type_string(), ": ", kImages, " must be 4-dimensional, got ", shape->ToString())));
    std::vector<int64_t> size;
    if (kHasOriginal) {
      const absl::StatusOr<xla::Shape> original = context->InputXlaShape(1);
      OP_REQUIRES_OK(context, original.status());
      OP_REQUIRES(context, original->rank() == 4,
                  absl::InvalidArgumentError(absl::StrCat(type_string(), ": original_image must be 4-dimensional, got ",
                                                          original->ToString())));
      OP_REQUIRES(
          context, original->dimensions(0) == shape->dimensions(0) && original->dimensions(3) == shape->dimensions(3),
          absl::InvalidArgumentError(absl::StrCat(
              type_string(), ": original_image and grads must have the same batch size and number of channels, ",
              "got original_image ", original->ToString(), " and grads ", shape->ToString())));
      size = {original->dimensions(1), original->dimensions(2)};
    } else {
      OP_REQUIRES_OK(context, context->ConstantInputAsIntVector(1, &size));
    }
    OP_REQUIRES(
        context, size.size() == 2 && size[0] > 0 && size[1] > 0,
        absl::InvalidArgumentError(absl::StrCat(type_string(),
                                                kHasOriginal ? ": height and width of original_image must be positive"
                                                             : ": size must have 2 positive elements",
                                                ", got [", absl::StrJoin(size, ","), "]")));
    OP_REQUIRES(context, shape->dimensions(1) > 0 && shape->dimensions(2) > 0,
                absl::InvalidArgumentError(absl::StrCat(type_string(), ": height and width of ", kImages,
                                                        " must be positive, got ", shape->ToString())));
    xla::PrimitiveType type;
    OP_REQUIRES_OK(context, tensorflow::DataTypeToPrimitiveType(context->expected_output_dtype(0), &type));

    const Weights weights(kInterpolation, align_corners_, half_pixel_centers_);
    // float32 would round float64, and integers of more than 24 bits.
    const bool wide = type == xla::F64 || type == xla::S32 || type == xla::S64;
    xla::XlaOp image = xla::ConvertElementType(context->Input(0), wide ? xla::F64 : xla::F32);
    for (const int dimension : {1, 2}) {
      const int64_t from = shape->dimensions(dimension), to = size[dimension - 1];
      if (from == to) continue;
      const xla::XlaOp matrix =
          kGradient ? weights.Matrix(context->builder(), from, to) : weights.Matrix(context->builder(), to, from);
      image =
          MultiplyDimension(xla::ConvertElementType(matrix, wide ? xla::F64 : xla::F32), image, dimension, kGradient);
    }
    context->SetOutput(0, xla::ConvertElementType(image, type));
  }

 private:
  static constexpr const char* kImages = kGradient ? "grads" : "images";  // name of input 0
  static constexpr bool kHasOriginal = kGradient && kInterpolation != Interpolation::kNearest;

  bool align_corners_ = false;
  bool half_pixel_centers_ = false;
};

template <typename Lowering>
tensorflow::OpKernel* Make(tensorflow::OpKernelConstruction* construction) {
  return new Lowering(construction);
}

template <typename Lowering>
bool Register(const char* op, bool constant_size) {
  tensorflow::XlaOpRegistrationBuilder builder = tensorflow::XlaOpRegistrationBuilder::Name(op);
  builder.Device(kCompilationDevice);
  if (constant_size) builder.CompileTimeConstantInput("size");
  tensorflow::XlaOpRegistrar registrar(builder.Build(Make<Lowering>));
  return true;
}

[[maybe_unused]] const bool registered =
    Register<ResizeLowering<Interpolation::kBilinear, false>>("ResizeBilinear", true) &&
    Register<ResizeLowering<Interpolation::kBilinear, true>>("ResizeBilinearGrad", false) &&
    Register<ResizeLowering<Interpolation::kNearest, false>>("ResizeNearestNeighbor", true) &&
    Register<ResizeLowering<Interpolation::kNearest, true>>("ResizeNearestNeighborGrad", true) &&
    Register<ResizeLowering<Interpolation::kBicubic, false>>("ResizeBicubic", true) &&
    Register<ResizeLowering<Interpolation::kBicubic, true>>("ResizeBicubicGrad", false) &&
    Register<ResizeLowering<Interpolation::kArea, false>>("ResizeArea", true);

}  // namespace
}  // namespace hpu
