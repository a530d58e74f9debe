// Lowering of CropAndResize, which TensorFlow has none of: boxes of images, each resized to one size.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/client/lib/constants.h"
#include "xla/client/lib/slicing.h"
#include "xla/client/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using xla::XlaOp;

XlaOp Number(XlaOp like, double value) { return xla::ScalarLike(like, value); }

// Where the pixels of each crop come from in one direction: [boxes, pixels].
struct Places {
  XlaOp place;   // float32, within the image
  XlaOp inside;  // whether it was before
};

// The same number, of which compilers do not know where it comes from. `zero`: [boxes], the value's first dimension.
XlaOp Hidden(XlaOp value, XlaOp zero) {
  const XlaOp bits = xla::BitcastConvertType(value, xla::S32);
  return xla::BitcastConvertType(xla::Add(bits, zero, {0}), xla::F32);
}

// TensorFlow's kernels round each product and the quotient. XLA would multiply by a reciprocal and add without rounding
// the product, and the last pixels of a box that ends with the image might come from beyond it.
Places PlacesOf(XlaOp begin, XlaOp end, int64_t boxes, int64_t pixels, int64_t length) {
  xla::XlaBuilder* const builder = begin.builder();
  const xla::Shape shape = xla::ShapeUtil::MakeShape(xla::F32, {boxes, pixels});
  const XlaOp last = Number(begin, static_cast<double>(length - 1));
  Places places;
  if (pixels > 1) {
    // No compiler knows that no box is infinite.
    const XlaOp zero = xla::ConvertElementType(
        xla::Eq(begin, xla::ConstantR0<float>(builder, std::numeric_limits<float>::infinity())), xla::S32);
    const XlaOp steps = Hidden(xla::Broadcast(Number(begin, static_cast<double>(pixels - 1)), {boxes}), zero);
    const XlaOp scale = (end - begin) * last / steps;
    const XlaOp offset = Hidden(begin * last, zero);
    places.place = xla::Add(Hidden(xla::Mul(xla::Iota(builder, shape, 1), scale, {0}), zero), offset, {0});
  } else {
    places.place = xla::BroadcastInDim(Number(begin, 0.5) * (begin + end) * last, shape.dimensions(), {0});
  }
  const XlaOp zero = xla::ZerosLike(places.place);
  places.inside = xla::And(xla::Ge(places.place, zero), xla::Le(places.place, last));
  places.place = xla::Clamp(zero, places.place, xla::Broadcast(last, shape.dimensions()));
  return places;
}

// Reads pixels of images [batch, height, width, channels].
class Reader {
 public:
  Reader(XlaOp images, const xla::Shape& shape, XlaOp image_of_box)
      : rows_(xla::Reshape(images,
                           {shape.dimensions(0) * shape.dimensions(1) * shape.dimensions(2), shape.dimensions(3)})),
        image_of_box_(image_of_box),
        height_(shape.dimensions(1)),
        width_(shape.dimensions(2)) {}

  // At whole places [boxes, height] and [boxes, width]: float32 [boxes, height, width, channels].
  XlaOp At(XlaOp y, XlaOp x, absl::Span<const int64_t> to) const {
    const std::vector<int64_t> pixels(to.begin(), to.end() - 1);
    const XlaOp row =
        xla::Add(xla::ConvertElementType(y, xla::S32), image_of_box_ * xla::ScalarLike(image_of_box_, height_), {0});
    const XlaOp index = xla::BroadcastInDim(row * xla::ScalarLike(row, width_), pixels, {0, 1}) +
                        xla::BroadcastInDim(xla::ConvertElementType(x, xla::S32), pixels, {0, 2});
    return xla::ConvertElementType(xla::TorchIndexSelect(rows_, index, 0), xla::F32);
  }

 private:
  const XlaOp rows_;
  const XlaOp image_of_box_;
  const int64_t height_;
  const int64_t width_;
};

class CropLowering : public tensorflow::XlaOpKernel {
 public:
  explicit CropLowering(tensorflow::OpKernelConstruction* construction) : XlaOpKernel(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("method", &method_));
    OP_REQUIRES_OK(construction, construction->GetAttr("extrapolation_value", &extrapolation_));
    OP_REQUIRES(construction, method_ == "bilinear" || method_ == "nearest",
                absl::InvalidArgumentError("method must be bilinear or nearest: " + method_));
  }

  void Compile(tensorflow::XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> images = context->InputXlaShape(0);
    OP_REQUIRES_OK(context, images.status());
    const absl::StatusOr<xla::Shape> boxes = context->InputXlaShape(1);
    OP_REQUIRES_OK(context, boxes.status());
    const absl::StatusOr<xla::Shape> image_of_box = context->InputXlaShape(2);
    OP_REQUIRES_OK(context, image_of_box.status());
    std::vector<int64_t> size;
    OP_REQUIRES_OK(context, context->ConstantInputAsIntVector(3, &size));
    OP_REQUIRES(context, images->rank() == 4,
                absl::InvalidArgumentError("images must be 4-dimensional: " + images->ToString()));
    OP_REQUIRES(context,
                boxes->rank() == 2 && boxes->dimensions(1) == 4 && image_of_box->rank() == 1 &&
                    image_of_box->dimensions(0) == boxes->dimensions(0),
                absl::InvalidArgumentError("boxes must be [boxes, 4], and each in an image: " + boxes->ToString()));
    OP_REQUIRES(
        context,
        size.size() == 2 && size[0] > 0 && size[1] > 0 && images->dimensions(1) > 0 && images->dimensions(2) > 0,
        absl::InvalidArgumentError("sizes of images must be positive"));
    const int64_t count = boxes->dimensions(0);
    const std::vector<int64_t> to{count, size[0], size[1], images->dimensions(3)};
    const XlaOp outside = xla::ConstantR0<float>(context->builder(), extrapolation_);
    if (xla::ShapeUtil::IsZeroElementArray(*images)) return context->SetOutput(0, xla::Broadcast(outside, to));
    const auto side = [&](int64_t i) {
      return xla::Reshape(xla::SliceInDim(context->Input(1), i, i + 1, 1, 1), {count});
    };
    const Places y = PlacesOf(side(0), side(2), count, size[0], images->dimensions(1));
    const Places x = PlacesOf(side(1), side(3), count, size[1], images->dimensions(2));
    const Reader reader(context->Input(0), *images, context->Input(2));
    const XlaOp pixels = method_ == "nearest" ? reader.At(xla::Round(y.place), xla::Round(x.place), to)
                                              : Bilinear(reader, y.place, x.place, to);
    const XlaOp inside = xla::And(xla::BroadcastInDim(y.inside, to, {0, 1}), xla::BroadcastInDim(x.inside, to, {0, 2}));
    context->SetOutput(0, xla::Select(inside, pixels, xla::Broadcast(outside, to)));
  }

 private:
  static XlaOp Bilinear(const Reader& reader, XlaOp y, XlaOp x, absl::Span<const int64_t> to) {
    const XlaOp top = xla::Floor(y), bottom = xla::Ceil(y), left = xla::Floor(x), right = xla::Ceil(x);
    const auto mix = [](XlaOp first, XlaOp second, XlaOp weight, int64_t dimension) {
      return first + xla::Mul(second - first, weight, {0, dimension});
    };
    const XlaOp upper = mix(reader.At(top, left, to), reader.At(top, right, to), x - left, 2);
    const XlaOp lower = mix(reader.At(bottom, left, to), reader.At(bottom, right, to), x - left, 2);
    return mix(upper, lower, y - top, 1);
  }

  std::string method_;
  float extrapolation_ = 0;
};

REGISTER_XLA_OP(Name("CropAndResize").Device(kCompilationDevice).CompileTimeConstantInput("crop_size"), CropLowering)

}  // namespace
}  // namespace hpu
