// Lowerings of ImageProjectiveTransformV2 and V3, which tf2xla lacks: rotations, shifts and zooms of images.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/type_util.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/slicing.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using xla::XlaOp;

// Rounds `value` towards zero. Requires |value| < 2^31.
XlaOp Truncated(XlaOp value) { return xla::ConvertElementType(xla::ConvertElementType(value, xla::S32), xla::F32); }

// Maps coordinates outside an image of size `length` to coordinates inside, like TensorFlow's CPU kernels. CONSTANT
// does not change coordinates.
XlaOp MapCoordinate(XlaOp coordinate, int64_t length, const std::string& fill_mode) {
  if (fill_mode == "CONSTANT") return coordinate;
  const XlaOp zero = xla::ZerosLike(coordinate), last = xla::ScalarLike(coordinate, static_cast<float>(length - 1));
  const float period = fill_mode == "REFLECT" ? 2.0f * length : static_cast<float>(length);
  XlaOp below = zero, above = zero;
  if (length > 1 && fill_mode == "REFLECT") {  // [abcd] to [dcba|abcd|dcba]
    const XlaOp from_below =
        coordinate + xla::ScalarLike(coordinate, period) * Truncated(-coordinate / xla::ScalarLike(coordinate, period));
    below = xla::Select(xla::Lt(from_below, xla::ScalarLike(coordinate, -static_cast<float>(length))),
                        from_below + xla::ScalarLike(coordinate, period), -from_below - xla::ScalarLike(coordinate, 1));
    const XlaOp from_above =
        coordinate - xla::ScalarLike(coordinate, period) * Truncated(coordinate / xla::ScalarLike(coordinate, period));
    above = xla::Select(xla::Ge(from_above, xla::ScalarLike(coordinate, static_cast<float>(length))),
                        xla::ScalarLike(coordinate, period) - from_above - xla::ScalarLike(coordinate, 1), from_above);
  } else if (length > 1 && fill_mode == "WRAP") {  // [abcd] to [abcd|abcd|abcd]
    below = coordinate +
            xla::ScalarLike(coordinate, period) * (Truncated(-coordinate / last) + xla::ScalarLike(coordinate, 1));
    above = coordinate - xla::ScalarLike(coordinate, period) * Truncated(coordinate / last);
  }
  if (fill_mode != "NEAREST") {
    coordinate =
        xla::Select(xla::Lt(coordinate, zero), below, xla::Select(xla::Gt(coordinate, last), above, coordinate));
  }
  return xla::Clamp(zero, coordinate, last);
}

// Reads pixels of images [batch, height, width, channels]; pixels outside are `fill`, a scalar.
class Reader {
 public:
  Reader(XlaOp images, const xla::Shape& shape, XlaOp fill)
      : rows_(xla::Reshape(images,
                           {shape.dimensions(0) * shape.dimensions(1) * shape.dimensions(2), shape.dimensions(3)})),
        fill_(fill),
        shape_(shape) {}

  // Pixels at integral coordinates, float32 [batch, to_height, to_width]: [batch, to_height, to_width, channels].
  XlaOp At(XlaOp y, XlaOp x) const {
    const int64_t height = shape_.dimensions(1), width = shape_.dimensions(2);
    xla::XlaBuilder* const builder = y.builder();
    const xla::Shape& coordinates = *builder->GetShapePtr(y).value();
    XlaOp index = xla::Iota(builder, xla::ShapeUtil::MakeShape(xla::S32, coordinates.dimensions()), 0);
    index = (index * xla::ScalarLike(index, height) + Index(y, height)) * xla::ScalarLike(index, width);
    const XlaOp pixels = xla::TorchIndexSelect(rows_, index + Index(x, width), 0);
    std::vector<int64_t> to(coordinates.dimensions().begin(), coordinates.dimensions().end());
    to.push_back(shape_.dimensions(3));
    return xla::Select(xla::BroadcastInDim(xla::And(Inside(y, height), Inside(x, width)), to, {0, 1, 2}), pixels,
                       xla::Broadcast(fill_, to));
  }

 private:
  static XlaOp Inside(XlaOp coordinate, int64_t length) {
    return xla::And(xla::Ge(coordinate, xla::ZerosLike(coordinate)),
                    xla::Le(coordinate, xla::ScalarLike(coordinate, static_cast<float>(length - 1))));
  }
  static XlaOp Index(XlaOp coordinate, int64_t length) {
    const XlaOp last = xla::ScalarLike(coordinate, static_cast<float>(length - 1));
    return xla::ConvertElementType(xla::Clamp(xla::ZerosLike(coordinate), coordinate, last), xla::S32);
  }

  const XlaOp rows_;
  const XlaOp fill_;
  const xla::Shape shape_;
};

class ImageTransformLowering : public tensorflow::XlaOpKernel {
 public:
  explicit ImageTransformLowering(tensorflow::OpKernelConstruction* construction) : XlaOpKernel(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("interpolation", &interpolation_));
    OP_REQUIRES_OK(construction, construction->GetAttr("fill_mode", &fill_mode_));
    OP_REQUIRES(construction, interpolation_ == "NEAREST" || interpolation_ == "BILINEAR",
                absl::InvalidArgumentError(
                    absl::StrCat(type_string(), ": interpolation must be NEAREST or BILINEAR, got ", interpolation_)));
    OP_REQUIRES(construction,
                fill_mode_ == "CONSTANT" || fill_mode_ == "REFLECT" || fill_mode_ == "WRAP" || fill_mode_ == "NEAREST",
                absl::InvalidArgumentError(absl::StrCat(
                    type_string(), ": fill_mode must be CONSTANT, REFLECT, WRAP or NEAREST, got ", fill_mode_)));
  }

  void Compile(tensorflow::XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> images = context->InputXlaShape(0);
    OP_REQUIRES_OK(context, images.status());
    const absl::StatusOr<xla::Shape> transforms = context->InputXlaShape(1);
    OP_REQUIRES_OK(context, transforms.status());
    std::vector<int64_t> size;
    OP_REQUIRES_OK(context, context->ConstantInputAsIntVector(2, &size));
    OP_REQUIRES(context, images->dimensions_size() == 4,
                absl::InvalidArgumentError(
                    absl::StrCat(type_string(), ": images must be 4-dimensional, got ", images->ToString())));
    OP_REQUIRES(context,
                transforms->dimensions_size() == 2 && transforms->dimensions(1) == 8 &&
                    (transforms->dimensions(0) == 1 || transforms->dimensions(0) == images->dimensions(0)),
                absl::InvalidArgumentError(absl::StrCat(type_string(), ": transforms must have shape [1, 8] or [",
                                                        images->dimensions(0), ", 8], one row for each image, got ",
                                                        transforms->ToString())));
    OP_REQUIRES(
        context, size.size() == 2 && size[0] > 0 && size[1] > 0,
        absl::InvalidArgumentError(absl::StrCat(type_string(), ": output_shape must have 2 positive elements, got [",
                                                absl::StrJoin(size, ","), "]")));
    const xla::PrimitiveType type = images->element_type();
    const XlaOp fill = context->num_inputs() > 3 ? xla::ConvertElementType(context->Input(3), type)
                                                 : xla::Zero(context->builder(), type);
    const std::vector<int64_t> to = {images->dimensions(0), size[0], size[1], images->dimensions(3)};
    if (xla::ShapeUtil::IsZeroElementArray(*images)) return context->SetOutput(0, xla::Broadcast(fill, to));
    const Coordinates coordinates =
        CoordinatesOf(context, {images->dimensions(0), size[0], size[1]}, transforms->dimensions(0));
    const XlaOp y = MapCoordinate(coordinates.y, images->dimensions(1), fill_mode_);
    const XlaOp x = MapCoordinate(coordinates.x, images->dimensions(2), fill_mode_);
    const Reader reader(context->Input(0), *images, fill);
    const XlaOp pixels = interpolation_ == "NEAREST" ? reader.At(xla::Round(y), xla::Round(x))
                                                     : xla::ConvertElementType(Bilinear(reader, y, x), type);
    context->SetOutput(
        0, xla::Select(xla::BroadcastInDim(coordinates.infinite, to, {0, 1, 2}), xla::Broadcast(fill, to), pixels));
  }

 private:
  // Sampling coordinates of each result pixel, float32 [batch, to_height, to_width], and whether a coordinate is
  // infinite.
  struct Coordinates {
    XlaOp y, x, infinite;
  };
  static Coordinates CoordinatesOf(tensorflow::XlaOpKernelContext* context, const std::vector<int64_t>& to,
                                   int64_t transforms) {
    const xla::Shape shape = xla::ShapeUtil::MakeShape(xla::F32, to);
    const XlaOp row = xla::Iota(context->builder(), shape, 1), column = xla::Iota(context->builder(), shape, 2);
    const auto factor = [&](int64_t i) {
      const XlaOp factors = xla::Reshape(xla::SliceInDim(context->Input(1), i, i + 1, 1, 1), {transforms});
      if (transforms == 1) return xla::Broadcast(xla::Reshape(factors, {}), to);
      return xla::BroadcastInDim(factors, to, {0});
    };
    const XlaOp projection = factor(6) * column + factor(7) * row + xla::ScalarLike(row, 1);
    Coordinates coordinates;
    coordinates.x = (factor(0) * column + factor(1) * row + factor(2)) / projection;
    coordinates.y = (factor(3) * column + factor(4) * row + factor(5)) / projection;
    coordinates.infinite = xla::Eq(projection, xla::ZerosLike(projection));
    return coordinates;
  }

  static XlaOp Bilinear(const Reader& reader, XlaOp y, XlaOp x) {
    const XlaOp one = xla::ScalarLike(y, 1), top = xla::Floor(y), left = xla::Floor(x);
    const auto at = [&](XlaOp row, XlaOp column) { return xla::ConvertElementType(reader.At(row, column), xla::F32); };
    const auto mix = [&](XlaOp first, XlaOp second, XlaOp weight) {
      return xla::Mul(first, one - weight, {0, 1, 2}) + xla::Mul(second, weight, {0, 1, 2});
    };
    const XlaOp upper = mix(at(top, left), at(top, left + one), x - left);
    const XlaOp lower = mix(at(top + one, left), at(top + one, left + one), x - left);
    return mix(upper, lower, y - top);
  }

  std::string interpolation_;
  std::string fill_mode_;
};

REGISTER_XLA_OP(Name("ImageProjectiveTransformV2").Device(kCompilationDevice).CompileTimeConstantInput("output_shape"),
                ImageTransformLowering)
REGISTER_XLA_OP(Name("ImageProjectiveTransformV3").Device(kCompilationDevice).CompileTimeConstantInput("output_shape"),
                ImageTransformLowering)

}  // namespace
}  // namespace hpu
