// Lowerings of ScaleAndTranslate and its gradient, which tf2xla lacks. tf.image.resize uses these ops for lanczos3,
// lanczos5, gaussian and mitchellcubic, and with antialias. As in resize_lowerings.cc, images are multiplied by one
// matrix per direction, and gradients by the transposed matrices.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/lowerings/image_product.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using xla::XlaOp;

// `near` for a distance below 1, `far` below 2, 0 beyond.
XlaOp Piecewise(XlaOp distance, XlaOp near, XlaOp far) {
  return xla::Select(xla::Lt(distance, xla::ScalarLike(distance, 1)), near,
                     xla::Select(xla::Lt(distance, xla::ScalarLike(distance, 2)), far, xla::ScalarLike(distance, 0)));
}

XlaOp Cubic(XlaOp x, float third, float second, float first, float constant) {
  return ((xla::ScalarLike(x, third) * x + xla::ScalarLike(x, second)) * x + xla::ScalarLike(x, first)) * x +
         xla::ScalarLike(x, constant);
}

// sinc(x) sinc(x / radius)
XlaOp Lanczos(XlaOp distance, float radius) {
  const XlaOp pi = xla::ScalarLike(distance, 3.14159265359f), turned = pi * distance,
              zero = xla::ScalarLike(distance, 0);
  const XlaOp waves =
      xla::ScalarLike(distance, radius) * xla::Sin(turned) * xla::Sin(turned / xla::ScalarLike(distance, radius));
  const XlaOp weight = waves / (pi * pi * distance * distance);
  return xla::Select(
      xla::Gt(distance, xla::ScalarLike(distance, radius)), zero,
      xla::Select(xla::Le(distance, xla::ScalarLike(distance, 1e-3f)), xla::ScalarLike(distance, 1), weight));
}

// Weight of a pixel as a function of its distance, which is at least 0.
struct Kernel {
  const char* name;
  float radius;
  XlaOp (*weight)(XlaOp distance);
};

const Kernel* FindKernel(const std::string& name) {
  static constexpr Kernel kKernels[] = {
      {"lanczos1", 1, [](XlaOp x) { return Lanczos(x, 1); }},
      {"lanczos3", 3, [](XlaOp x) { return Lanczos(x, 3); }},
      {"lanczos5", 5, [](XlaOp x) { return Lanczos(x, 5); }},
      // Standard deviation 1/2.
      {"gaussian", 1.5,
       [](XlaOp x) {
         return xla::Select(xla::Ge(x, xla::ScalarLike(x, 1.5f)), xla::ScalarLike(x, 0),
                            xla::Exp(-x * x / xla::ScalarLike(x, 0.5f)));
       }},
      {"box", 1,
       [](XlaOp x) {
         const XlaOp half = xla::ScalarLike(x, 0.5f);
         return xla::Select(xla::Lt(x, half), xla::ScalarLike(x, 1),
                            xla::Select(xla::Eq(x, half), half, xla::ScalarLike(x, 0)));
       }},
      {"triangle", 1, [](XlaOp x) { return xla::Max(xla::ScalarLike(x, 1) - x, xla::ScalarLike(x, 0)); }},
      // R. G. Keys, Cubic convolution interpolation for digital image processing, 1981.
      {"keyscubic", 2, [](XlaOp x) { return Piecewise(x, Cubic(x, 1.5f, -2.5f, 0, 1), Cubic(x, -0.5f, 2.5f, -4, 2)); }},
      // D. P. Mitchell and A. N. Netravali, Reconstruction filters in computer graphics, 1988.
      {"mitchellcubic", 2,
       [](XlaOp x) {
         return Piecewise(x, Cubic(x, 7.0f / 6, -2, 0, 8.0f / 9), Cubic(x, -7.0f / 18, 2, -10.0f / 3, 16.0f / 9));
       }},
  };
  const Kernel* found = std::find_if(std::begin(kKernels), std::end(kKernels),
                                     [&name](const Kernel& kernel) { return name == kernel.name; });
  return found == std::end(kKernels) ? nullptr : found;
}

// Weights of `from` source pixels for `to` result pixels: [to, from], float32. Rows add up to 1, except rows of pixels
// from outside the image, which are 0.
XlaOp Matrix(xla::XlaBuilder* builder, const Kernel& kernel, bool antialias, int64_t to, int64_t from, float scale,
             float translation) {
  const float step = 1.0f / scale, begin = -step * translation;
  const float stretch = antialias ? std::max(step, 1.0f) : 1.0f;
  const xla::Shape shape = xla::ShapeUtil::MakeShape(xla::F32, {to, from});
  const XlaOp pixel = xla::Iota(builder, shape, 1);
  const auto number = [pixel](float value) { return xla::ScalarLike(pixel, value); };
  const XlaOp zero = number(0), half = number(0.5f), last = number(static_cast<float>(from - 1));
  const XlaOp place = (xla::Iota(builder, shape, 0) + half) * number(step) + number(begin);
  const XlaOp reach = number(kernel.radius * stretch);
  const XlaOp first_pixel = xla::Clamp(zero, xla::Ceil(place - reach - half), last);
  const XlaOp last_pixel = xla::Clamp(zero, xla::Floor(place + reach - half), last);
  const XlaOp is_in_image = xla::And(xla::Ge(place, zero), xla::Le(place, number(static_cast<float>(from))));
  const XlaOp counts = xla::And(is_in_image, xla::And(xla::Ge(pixel, first_pixel), xla::Le(pixel, last_pixel)));
  const XlaOp distance = xla::Abs((pixel + half - place) * number(1.0f / stretch));
  const XlaOp weights = xla::Select(counts, kernel.weight(distance), xla::ZerosLike(pixel));
  const XlaOp sum =
      xla::Reduce(weights, xla::ConstantR0<float>(builder, 0), xla::CreateScalarAddComputation(xla::F32, builder), {1});
  const XlaOp min = xla::ScalarLike(sum, 1000 * std::numeric_limits<float>::min());
  const XlaOp factor = xla::Select(xla::Ge(xla::Abs(sum), min), xla::ScalarLike(sum, 1) / sum, xla::ZerosLike(sum));
  return xla::Mul(weights, factor, {0});
}

template <bool kGradient>
class ScaleAndTranslateLowering : public tensorflow::XlaOpKernel {
 public:
  explicit ScaleAndTranslateLowering(tensorflow::OpKernelConstruction* construction) : XlaOpKernel(construction) {
    std::string kernel;
    OP_REQUIRES_OK(construction, construction->GetAttr("antialias", &antialias_));
    OP_REQUIRES_OK(construction, construction->GetAttr("kernel_type", &kernel));
    kernel_ = FindKernel(kernel);
    // TensorFlow's own text.
    OP_REQUIRES(construction, kernel_ != nullptr, absl::InvalidArgumentError("Unrecognized kernel type: " + kernel));
  }

  void Compile(tensorflow::XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(0);
    OP_REQUIRES_OK(context, shape.status());
    OP_REQUIRES(context, shape->dimensions_size() == 4,
                absl::InvalidArgumentError(absl::StrCat(type_string(), kGradient ? ": grads" : ": images",
                                                        " must be 4-dimensional, got ", shape->ToString())));
    std::vector<int64_t> size;
    if (kGradient) {
      const absl::StatusOr<xla::Shape> original = context->InputXlaShape(1);
      OP_REQUIRES_OK(context, original.status());
      OP_REQUIRES(context, original->dimensions_size() == 4,
                  absl::InvalidArgumentError(absl::StrCat(type_string(), ": original_image must be 4-dimensional, got ",
                                                          original->ToString())));
      size = {original->dimensions(1), original->dimensions(2)};
    } else {
      OP_REQUIRES_OK(context, context->ConstantInputAsIntVector(1, &size));
      // TensorFlow's own texts, with the op and the values.
      OP_REQUIRES(context, size.size() == 2 && size[0] > 0 && size[1] > 0,
                  absl::InvalidArgumentError(absl::StrCat(type_string(), ": output dimensions must be positive, got [",
                                                          absl::StrJoin(size, ","), "]")));
      OP_REQUIRES(context, shape->dimensions(1) > 0 && shape->dimensions(2) > 0 && shape->dimensions(3) > 0,
                  absl::InvalidArgumentError(
                      absl::StrCat(type_string(), ": input image must be of non-zero size, got ", shape->ToString())));
    }
    xla::Literal scale, translation;
    OP_REQUIRES_OK(context, context->ConstantInput(2, &scale));
    OP_REQUIRES_OK(context, context->ConstantInput(3, &translation));
    const xla::Shape pair = xla::ShapeUtil::MakeShape(xla::F32, {2});
    OP_REQUIRES(
        context,
        xla::ShapeUtil::Compatible(scale.shape(), pair) && xla::ShapeUtil::Compatible(translation.shape(), pair),
        absl::InvalidArgumentError(
            absl::StrCat(type_string(), ": scale and translation must have two elements each, got scale ",
                         scale.shape().ToString(), " and translation ", translation.shape().ToString())));
    // TensorFlow's own text.
    OP_REQUIRES(context, scale.Get<float>({0}) > 0 && scale.Get<float>({1}) > 0,
                absl::InvalidArgumentError("Scale must be greater than zero."));

    XlaOp images = xla::ConvertElementType(context->Input(0), xla::F32);
    for (const int dimension : {1, 2}) {
      const int64_t ours = shape->dimensions(dimension), other = size[dimension - 1];
      const XlaOp matrix =
          Matrix(context->builder(), *kernel_, antialias_, kGradient ? ours : other, kGradient ? other : ours,
                 scale.Get<float>({dimension - 1}), translation.Get<float>({dimension - 1}));
      images = MultiplyDimension(matrix, images, dimension, kGradient);
    }
    context->SetOutput(0, images);
  }

 private:
  const Kernel* kernel_ = nullptr;
  bool antialias_ = true;
};

REGISTER_XLA_OP(Name("ScaleAndTranslate")
                    .Device(kCompilationDevice)
                    .CompileTimeConstantInput("size")
                    .CompileTimeConstantInput("scale")
                    .CompileTimeConstantInput("translation"),
                ScaleAndTranslateLowering<false>)
REGISTER_XLA_OP(Name("ScaleAndTranslateGrad")
                    .Device(kCompilationDevice)
                    .CompileTimeConstantInput("scale")
                    .CompileTimeConstantInput("translation"),
                ScaleAndTranslateLowering<true>)

}  // namespace
}  // namespace hpu
