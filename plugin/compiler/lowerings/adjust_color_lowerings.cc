// Lowerings of AdjustHue and AdjustSaturation that match the CPU kernels for colours outside 0 to 1.
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/slicing.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using tensorflow::XlaOpKernelContext;
using xla::XlaOp;

struct Color {
  XlaOp red, green, blue;
};

XlaOp Number(XlaOp like, float value) { return xla::ScalarLike(like, value); }

// Like std::max and std::min, return the first operand if either operand is NaN.
XlaOp Larger(XlaOp a, XlaOp b) { return xla::Select(xla::Lt(a, b), b, a); }
XlaOp Smaller(XlaOp a, XlaOp b) { return xla::Select(xla::Lt(b, a), b, a); }

// The element of `choices` at index `category`; the last element for all other values.
XlaOp Choose(XlaOp category, const std::vector<XlaOp>& choices) {
  XlaOp chosen = choices.back();
  for (int i = static_cast<int>(choices.size()) - 2; i >= 0; --i) {
    chosen = xla::Select(xla::Eq(category, Number(category, static_cast<float>(i))), choices[i], chosen);
  }
  return chosen;
}

// Sector of the colour circle for a hue from 0 to 6.
XlaOp CategoryOf(XlaOp hue) { return xla::Floor(hue); }

XlaOp IsOdd(XlaOp category) { return xla::Ne(xla::Rem(category, Number(category, 2)), xla::ZerosLike(category)); }

Color WithHue(const Color& color, XlaOp delta) {
  const auto& [r, g, b] = color;
  // Each number encodes one order of the channels by value.
  const auto number = [&](float value) { return xla::FullLike(r, value); };
  const XlaOp green_over_red = xla::Select(xla::Lt(b, r), number(1), xla::Select(xla::Gt(b, g), number(3), number(2)));
  const XlaOp red_over_green = xla::Select(xla::Lt(b, g), number(0), xla::Select(xla::Gt(b, r), number(4), number(5)));
  const XlaOp order = xla::Select(xla::Lt(r, g), green_over_red, red_over_green);
  const XlaOp largest = Choose(order, {r, g, g, b, b, r});
  const XlaOp middle = Choose(order, {g, r, b, g, r, b});
  const XlaOp smallest = Choose(order, {b, b, r, r, g, g});
  const XlaOp range = largest - smallest, one = Number(r, 1), turn = Number(r, 6);
  const XlaOp ratio = (middle - smallest) / range;
  XlaOp hue =
      xla::Select(xla::Eq(largest, smallest), xla::ZerosLike(r), order + xla::Select(IsOdd(order), one - ratio, ratio));
  hue = xla::Rem(hue + delta * turn, turn);
  hue = xla::Select(xla::Lt(hue, xla::ZerosLike(hue)), hue + turn, hue);
  hue = xla::Select(xla::Ge(hue, xla::FullLike(hue, 6)), hue - turn, hue);
  const XlaOp category = CategoryOf(hue), part = hue - category;
  const XlaOp mixed = smallest + xla::Select(IsOdd(category), one - part, part) * range;
  return {Choose(category, {largest, mixed, smallest, smallest, mixed, largest}),
          Choose(category, {mixed, largest, largest, mixed, smallest, smallest}),
          Choose(category, {smallest, smallest, mixed, largest, largest, mixed})};
}

Color WithSaturation(const Color& color, XlaOp scale) {
  const auto& [r, g, b] = color;
  const XlaOp zero = xla::ZerosLike(r), one = xla::FullLike(r, 1);
  const XlaOp value = Larger(r, Larger(g, b)), range = value - Smaller(r, Smaller(g, b));
  XlaOp saturation = xla::Select(xla::Gt(value, zero), range / value, zero);
  saturation = Smaller(one, Larger(zero, saturation * scale));
  const XlaOp norm = one / (Number(r, 6) * range);
  XlaOp hue = xla::Select(xla::Eq(r, value), norm * (g - b),
                          xla::Select(xla::Eq(g, value), norm * (b - r) + Number(r, static_cast<float>(2.0 / 6.0)),
                                      norm * (r - g) + Number(r, static_cast<float>(4.0 / 6.0))));
  hue = xla::Select(xla::Le(range, zero), zero, hue);
  hue = xla::Select(xla::Lt(hue, zero), hue + one, hue) * Number(r, 6);
  const XlaOp chroma = saturation * value, rest = value - chroma;
  const XlaOp mixed = chroma * (one - xla::Abs(xla::Rem(hue, Number(r, 2)) - one));
  const XlaOp category = CategoryOf(hue);  // 6 or NaN: a colour without chroma
  return {Choose(category, {chroma, mixed, zero, zero, mixed, chroma, zero}) + rest,
          Choose(category, {mixed, chroma, chroma, mixed, zero, zero, zero}) + rest,
          Choose(category, {zero, zero, mixed, chroma, chroma, mixed, zero}) + rest};
}

// Calls `kAdjust` with the colours and the scalar amount.
template <Color (*kAdjust)(const Color& color, XlaOp amount)>
class AdjustColorLowering : public tensorflow::XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;

  void Compile(XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> images = context->InputXlaShape(0), amount = context->InputXlaShape(1);
    for (const auto* shape : {&images, &amount}) OP_REQUIRES_OK(context, shape->status());
    const int64_t rank = images->dimensions_size();
    // TensorFlow's own text.
    OP_REQUIRES(context, rank >= 3,
                absl::InvalidArgumentError(absl::StrCat("input must be at least 3-D, got shape", images->ToString())));
    OP_REQUIRES(
        context, amount->dimensions_size() == 0,
        absl::InvalidArgumentError(absl::StrCat(type_string(), type_string() == "AdjustHue" ? ": delta" : ": scale",
                                                " must be a scalar, got ", amount->ToString())));
    const int64_t channels = images->dimensions(rank - 1);
    // TensorFlow's own text.
    OP_REQUIRES(context, channels == 3,
                absl::InvalidArgumentError(
                    absl::StrCat("input must have 3 channels but instead has ", channels, " channels.")));
    const XlaOp values = xla::ConvertElementType(context->Input(0), xla::F32);
    const auto channel = [&](int64_t i) { return xla::SliceInDim(values, i, i + 1, 1, rank - 1); };
    const Color color =
        kAdjust({channel(0), channel(1), channel(2)}, xla::ConvertElementType(context->Input(1), xla::F32));
    const XlaOp joined = xla::ConcatInDim(context->builder(), {color.red, color.green, color.blue}, rank - 1);
    context->SetOutput(0, xla::ConvertElementType(joined, images->element_type()));
  }
};

REGISTER_XLA_OP(Name("AdjustHue").Device(kCompilationDevice), AdjustColorLowering<WithHue>)
REGISTER_XLA_OP(Name("AdjustSaturation").Device(kCompilationDevice), AdjustColorLowering<WithSaturation>)

}  // namespace
}  // namespace hpu
