#include "plugin/compiler/lowerings/crop_coordinates.h"

#include <limits>

#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/slicing.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using xla::XlaOp;

// Returns `value`, hidden from algebraic simplification. `zero`: int32 zeros, with the first dimension of `value`.
XlaOp Hidden(XlaOp value, XlaOp zero) {
  const XlaOp bits = xla::BitcastConvertType(value, xla::S32);
  return xla::BitcastConvertType(xla::Add(bits, zero, {0}), xla::F32);
}

}  // namespace

// TensorFlow's kernels round each product and the quotient. XLA would multiply by a reciprocal and not round the
// product before adding. The last pixels of a box that ends at the image's edge might then be outside the image.
SamplingCoordinates SamplingCoordinatesOf(XlaOp boxes, int64_t count, int64_t direction, int64_t pixels, int64_t length,
                                          CropScale scale) {
  xla::XlaBuilder* const builder = boxes.builder();
  const auto side = [&](int64_t i) { return xla::Reshape(xla::SliceInDim(boxes, i, i + 1, 1, 1), {count}); };
  const XlaOp begin = side(direction), end = side(direction + 2);
  const xla::Shape shape = xla::ShapeUtil::MakeShape(xla::F32, {count, pixels});
  const XlaOp last = xla::ScalarLike(begin, static_cast<double>(length - 1));
  SamplingCoordinates coordinates;
  if (pixels > 1) {
    // Zero unless a box begins at infinity, which compilers cannot rule out.
    const XlaOp zero = xla::ConvertElementType(
        xla::Eq(begin, xla::ConstantR0<float>(builder, std::numeric_limits<float>::infinity())), xla::S32);
    XlaOp step;
    if (scale == CropScale::kDivided) {
      const XlaOp steps =
          Hidden(xla::Broadcast(xla::ScalarLike(begin, static_cast<double>(pixels - 1)), {count}), zero);
      step = (end - begin) * last / steps;
    } else {
      step = (end - begin) * xla::ScalarLike(begin, static_cast<float>(length - 1) / static_cast<float>(pixels - 1));
    }
    const XlaOp offset = Hidden(begin * last, zero);
    coordinates.value = xla::Add(Hidden(xla::Mul(xla::Iota(builder, shape, 1), step, {0}), zero), offset, {0});
  } else {
    coordinates.value =
        xla::BroadcastInDim(xla::ScalarLike(begin, 0.5) * (begin + end) * last, shape.dimensions(), {0});
  }
  const XlaOp zero = xla::ZerosLike(coordinates.value);
  coordinates.inside = xla::And(xla::Ge(coordinates.value, zero), xla::Le(coordinates.value, last));
  coordinates.value = xla::Clamp(zero, coordinates.value, xla::Broadcast(last, shape.dimensions()));
  return coordinates;
}

CropReader::CropReader(XlaOp images, const xla::Shape& shape, XlaOp image_of_box)
    : rows_(
          xla::Reshape(images, {shape.dimensions(0) * shape.dimensions(1) * shape.dimensions(2), shape.dimensions(3)})),
      image_of_box_(image_of_box),
      height_(shape.dimensions(1)),
      width_(shape.dimensions(2)) {}

XlaOp CropReader::At(XlaOp y, XlaOp x, absl::Span<const int64_t> to) const {
  const XlaOp index = CropPixel(image_of_box_, y, x, height_, width_, to.subspan(0, 3));
  return xla::ConvertElementType(xla::TorchIndexSelect(rows_, index, 0), xla::F32);
}

XlaOp CropPixel(XlaOp image_of_box, XlaOp y, XlaOp x, int64_t height, int64_t width, absl::Span<const int64_t> pixels) {
  const XlaOp row =
      xla::Add(xla::ConvertElementType(y, xla::S32), image_of_box * xla::ScalarLike(image_of_box, height), {0});
  return xla::BroadcastInDim(row * xla::ScalarLike(row, width), pixels, {0, 1}) +
         xla::BroadcastInDim(xla::ConvertElementType(x, xla::S32), pixels, {0, 2});
}

}  // namespace hpu
