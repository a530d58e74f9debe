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
#include "plugin/compiler/dynamic_shapes/bounded_arrays.h"
#include "plugin/compiler/lowerings/image_product.h"
#include "tensorflow/compiler/tf2xla/type_util.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/math.h"
#include "xla/hlo/builder/xla_builder.h"
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

// Number of pixels in one direction.
struct PixelCount {
  int64_t bound = 0;
  xla::XlaOp size = {};  // int32; not valid if static

  bool is_dynamic() const { return size.valid(); }
  xla::XlaOp Number(xla::XlaBuilder* builder) const {
    return is_dynamic() ? xla::ConvertElementType(size, xla::F32)
                        : xla::ConstantR0<float>(builder, static_cast<float>(bound));
  }
};

// Weights of `from` source pixels for `to` result pixels: [to, from], float32. Weights past a dynamic size are 0.
class Weights {
 public:
  Weights(Interpolation interpolation, bool align_corners, bool half_pixel_centers)
      : interpolation_(interpolation), align_corners_(align_corners), half_pixel_centers_(half_pixel_centers) {}

  xla::XlaOp Matrix(xla::XlaBuilder* builder, const PixelCount& to, const PixelCount& from) const {
    const xla::XlaOp weights = All(builder, to, from);
    if (!to.is_dynamic() && !from.is_dynamic()) return weights;
    const xla::Shape shape = xla::ShapeUtil::MakeShape(xla::F32, {to.bound, from.bound});
    const xla::XlaOp inside = xla::And(xla::Lt(xla::Iota(builder, shape, 0), to.Number(builder)),
                                       xla::Lt(xla::Iota(builder, shape, 1), from.Number(builder)));
    return xla::Select(inside, weights, xla::ZerosLike(weights));
  }

 private:
  // Without regard to the elements past a size.
  xla::XlaOp All(xla::XlaBuilder* builder, const PixelCount& to, const PixelCount& from) const {
    const xla::Shape shape = xla::ShapeUtil::MakeShape(xla::F32, {to.bound, from.bound});
    if (interpolation_ == Interpolation::kArea) return Area(builder, to, from);
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

  // Source pixels for each result pixel.
  xla::XlaOp Scale(xla::XlaBuilder* builder, const PixelCount& to, const PixelCount& from) const {
    const xla::XlaOp one = xla::ConstantR0<float>(builder, 1);
    if (!to.is_dynamic() && !from.is_dynamic())
      return xla::ConstantR0<float>(builder, KnownScale(to.bound, from.bound));
    const xla::XlaOp targets = to.Number(builder), sources = from.Number(builder);
    if (!align_corners_) return sources / targets;
    return xla::Select(xla::Gt(targets, one), (sources - one) / (targets - one), sources / targets);
  }
  float KnownScale(int64_t to, int64_t from) const {
    const bool corners = align_corners_ && to > 1;
    return corners ? static_cast<float>(from - 1) / static_cast<float>(to - 1) : static_cast<float>(from) / to;
  }

  // A pixel's weight is its overlap with the averaged area. The last pixel also covers the area beyond the image.
  xla::XlaOp Area(xla::XlaBuilder* builder, const PixelCount& to, const PixelCount& from) const {
    const xla::Shape shape = xla::ShapeUtil::MakeShape(xla::F32, {to.bound, from.bound});
    const bool is_static = !to.is_dynamic() && !from.is_dynamic();
    // With align_corners and a single source pixel, the averaged area is empty.
    const xla::XlaOp ones = xla::Broadcast(xla::ConstantR0<float>(builder, 1), shape.dimensions());
    if (is_static && KnownScale(to.bound, from.bound) == 0) return ones;
    const xla::XlaOp result = xla::Iota(builder, shape, 0), pixel = xla::Iota(builder, shape, 1);
    const auto number = [pixel](float value) { return xla::ScalarLike(pixel, value); };
    const xla::XlaOp scale = Scale(builder, to, from), one = number(1);
    const xla::XlaOp begin = result * scale, end = (result + one) * scale;
    const xla::XlaOp is_last = xla::Eq(pixel, from.Number(builder) - xla::ConstantR0<float>(builder, 1));
    const xla::XlaOp border = xla::Select(is_last, xla::Max(end, pixel + one), pixel + one);
    const xla::XlaOp weights = xla::Max(xla::Min(border, end) - xla::Max(pixel, begin), number(0)) / scale;
    const xla::XlaOp is_empty = xla::Eq(scale, xla::ZerosLike(scale));
    return is_static ? weights : xla::Select(xla::Broadcast(is_empty, shape.dimensions()), ones, weights);
  }

  // Each result pixel is a weighted sum of four pixels. The border pixel receives the weight of pixels beyond the
  // border; with half_pixel_centers, the pixels inside share this weight. As in TensorFlow's kernels, fractions are
  // rounded to 1/1024.
  xla::XlaOp Cubic(xla::XlaBuilder* builder, xla::XlaOp place, xla::XlaOp pixel, const PixelCount& from) const {
    const xla::XlaOp zero = xla::ZerosLike(place);
    const xla::XlaOp last = from.Number(builder) - xla::ConstantR0<float>(builder, 1);
    const xla::XlaOp first = xla::Floor(place);
    const xla::XlaOp steps = xla::ScalarLike(place, 1024.0f);
    const xla::XlaOp fraction = xla::RoundToEven((place - first) * steps) / steps;
    xla::XlaOp weights = zero;
    for (const float offset : {-1.0f, 0.0f, 1.0f, 2.0f}) {
      const xla::XlaOp other = first + xla::ScalarLike(first, offset);
      const xla::XlaOp distance = xla::Abs(fraction - xla::ScalarLike(fraction, offset));
      const xla::XlaOp weight = CubicWeight(distance, half_pixel_centers_ ? -0.5f : -0.75f);
      const xla::XlaOp at = half_pixel_centers_ ? other : xla::Clamp(xla::ZerosLike(last), other, last);
      const xla::XlaOp is_pixel = half_pixel_centers_ && from.is_dynamic()
                                      ? xla::And(xla::Eq(at, pixel), xla::Le(pixel, last))
                                      : xla::Eq(at, pixel);
      weights = weights + xla::Select(is_pixel, weight, zero);
    }
    if (!half_pixel_centers_) return weights;
    const xla::XlaOp sum = xla::Reduce(weights, xla::ConstantR0<float>(builder, 0),
                                       xla::CreateScalarAddComputation(xla::F32, builder), {1});
    return xla::Div(weights, sum, {0});
  }

  // Sampling coordinate of each result pixel, as in TensorFlow's CPU kernels.
  xla::XlaOp Source(xla::XlaBuilder* builder, xla::XlaOp pixel, const PixelCount& to, const PixelCount& from) const {
    const xla::XlaOp scale = Scale(builder, to, from);
    const auto number = [pixel](float value) { return xla::ScalarLike(pixel, value); };
    xla::XlaOp place = half_pixel_centers_ ? (pixel + number(0.5f)) * scale : pixel * scale;
    if (interpolation_ == Interpolation::kNearest) {
      place = align_corners_ ? xla::Floor(place + number(0.5f)) : xla::Floor(place);
    } else if (half_pixel_centers_) {
      place = place - number(0.5f);
    }
    if (interpolation_ == Interpolation::kBicubic) return place;
    return xla::Clamp(xla::ConstantR0<float>(builder, 0), place,
                      from.Number(builder) - xla::ConstantR0<float>(builder, 1));
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
    OP_REQUIRES(context, shape->dimensions_size() == 4,
                absl::InvalidArgumentError(
                    absl::StrCat(type_string(), ": ", kImages, " must be 4-dimensional, got ", shape->ToString())));
    absl::StatusOr<BoundedArray> input = ToBounded(context->Input(0));
    OP_REQUIRES_OK(context, input.status());
    std::vector<int64_t> size;
    std::vector<xla::XlaOp> sizes = input->sizes;
    if (kHasOriginal) {
      const absl::StatusOr<BoundedArray> original_image = ToBounded(context->Input(1));
      OP_REQUIRES_OK(context, original_image.status());
      const xla::Shape* const original = &original_image->shape;
      OP_REQUIRES(context, original->dimensions_size() == 4,
                  absl::InvalidArgumentError(absl::StrCat(type_string(), ": original_image must be 4-dimensional, got ",
                                                          original->ToString())));
      OP_REQUIRES(
          context, original->dimensions(0) == shape->dimensions(0) && original->dimensions(3) == shape->dimensions(3),
          absl::InvalidArgumentError(absl::StrCat(
              type_string(), ": original_image and grads must have the same batch size and number of channels, ",
              "got original_image ", original->ToString(), " and grads ", shape->ToString())));
      size = {original->dimensions(1), original->dimensions(2)};
      for (const int d : {0, 3}) {
        if (!sizes[d].valid() && !original_image->sizes[d].valid()) continue;
        RequireAtLaunch(xla::Eq(input->Size(d), original_image->Size(d)));
      }
      sizes = original_image->sizes;
    } else {
      OP_REQUIRES_OK(context, context->ConstantInputAsIntVector(1, &size, xla::ValueInferenceMode::kUpperBound));
      std::vector<bool> dynamic;
      OP_REQUIRES_OK(context, context->ResolveInputDynamismIntoPredVector(1, &dynamic));
      sizes[1] = sizes[2] = xla::XlaOp();
      const xla::XlaOp numbers = xla::ConvertElementType(context->Input(1), xla::S32);
      for (size_t i = 0; i < dynamic.size() && i < 2; ++i) {
        const auto at = static_cast<int64_t>(i);
        if (dynamic[i]) sizes[i + 1] = xla::Reshape(xla::SliceInDim(numbers, at, at + 1, 1, 0), {});
      }
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
    xla::XlaOp image = xla::ConvertElementType(input->array, wide ? xla::F64 : xla::F32);
    for (const int dimension : {1, 2}) {
      const PixelCount from{shape->dimensions(dimension), input->sizes[dimension]};
      const PixelCount to{size[dimension - 1], sizes[dimension]};
      for (const PixelCount& count : {from, to}) {
        if (count.is_dynamic()) RequireAtLaunch(xla::Gt(count.size, xla::ScalarLike(count.size, 0)));
      }
      if (from.bound == to.bound && !from.is_dynamic() && !to.is_dynamic()) continue;
      if (from.is_dynamic()) {
        // A product with the weight 0 would be NaN for NaN past the size.
        image = ReplacePast(image, from.size, dimension, xla::Zero(context->builder(), wide ? xla::F64 : xla::F32));
      }
      const xla::XlaOp matrix =
          kGradient ? weights.Matrix(context->builder(), from, to) : weights.Matrix(context->builder(), to, from);
      image =
          MultiplyDimension(xla::ConvertElementType(matrix, wide ? xla::F64 : xla::F32), image, dimension, kGradient);
    }
    context->SetOutput(0, SetSizes(xla::ConvertElementType(image, type), sizes));
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
