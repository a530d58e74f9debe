// Lowering of CropAndResize, which tf2xla lacks: resizes boxes of images to a common size.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/lowerings/crop_coordinates.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using xla::XlaOp;

class CropLowering : public tensorflow::XlaOpKernel {
 public:
  explicit CropLowering(tensorflow::OpKernelConstruction* construction) : XlaOpKernel(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("method", &method_));
    OP_REQUIRES_OK(construction, construction->GetAttr("extrapolation_value", &extrapolation_));
    OP_REQUIRES(construction, method_ == "bilinear" || method_ == "nearest",
                absl::InvalidArgumentError(
                    absl::StrCat(type_string(), ": method must be 'bilinear' or 'nearest', got '", method_, "'")));
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
    OP_REQUIRES(context, images->dimensions_size() == 4,
                absl::InvalidArgumentError(
                    absl::StrCat(type_string(), ": image must be 4-dimensional, got ", images->ToString())));
    OP_REQUIRES(context,
                boxes->dimensions_size() == 2 && boxes->dimensions(1) == 4 && image_of_box->dimensions_size() == 1 &&
                    image_of_box->dimensions(0) == boxes->dimensions(0),
                absl::InvalidArgumentError(
                    absl::StrCat(type_string(), ": boxes must have shape [N, 4] and box_ind shape [N], got boxes ",
                                 boxes->ToString(), " and box_ind ", image_of_box->ToString())));
    OP_REQUIRES(context, size.size() == 2 && size[0] > 0 && size[1] > 0,
                absl::InvalidArgumentError(absl::StrCat(
                    type_string(), ": crop_size must have 2 positive elements, got [", absl::StrJoin(size, ","), "]")));
    OP_REQUIRES(context, images->dimensions(1) > 0 && images->dimensions(2) > 0,
                absl::InvalidArgumentError(absl::StrCat(
                    type_string(), ": height and width of image must be positive, got ", images->ToString())));
    const int64_t count = boxes->dimensions(0);
    const std::vector<int64_t> to{count, size[0], size[1], images->dimensions(3)};
    const XlaOp outside = xla::ConstantR0<float>(context->builder(), extrapolation_);
    if (xla::ShapeUtil::IsZeroElementArray(*images)) return context->SetOutput(0, xla::Broadcast(outside, to));
    const XlaOp sides = context->Input(1);
    const SamplingCoordinates y =
        SamplingCoordinatesOf(sides, count, 0, size[0], images->dimensions(1), CropScale::kDivided);
    const SamplingCoordinates x =
        SamplingCoordinatesOf(sides, count, 1, size[1], images->dimensions(2), CropScale::kDivided);
    const CropReader reader(context->Input(0), *images, context->Input(2));
    const XlaOp pixels = method_ == "nearest" ? reader.At(xla::Round(y.value), xla::Round(x.value), to)
                                              : Bilinear(reader, y.value, x.value, to);
    const XlaOp inside = xla::And(xla::BroadcastInDim(y.inside, to, {0, 1}), xla::BroadcastInDim(x.inside, to, {0, 2}));
    context->SetOutput(0, xla::Select(inside, pixels, xla::Broadcast(outside, to)));
  }

 private:
  static XlaOp Bilinear(const CropReader& reader, XlaOp y, XlaOp x, absl::Span<const int64_t> to) {
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
