#include "plugin/compiler/dynamic_shapes/size_numbers.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "plugin/base/status_macros.h"
#include "plugin/compat/lowering_values.h"
#include "plugin/compiler/dynamic_shapes/bounded_arrays.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/slicing.h"
#include "xla/literal.h"

namespace hpu {
namespace {

using xla::XlaOp;

constexpr int64_t kLowest = std::numeric_limits<int32_t>::min() / 2;
constexpr int64_t kHighest = std::numeric_limits<int32_t>::max() / 2;

int64_t Clamped(int64_t number) { return std::clamp(number, kLowest, kHighest); }

xla::XlaBuilder* BuilderOf(const SizeNumber& one, const SizeNumber& other) {
  return one.known.has_value() ? other.value.builder() : one.value.builder();
}

SizeNumber Combined(const SizeNumber& one, const SizeNumber& other, int64_t low, int64_t high,
                    const std::function<int64_t(int64_t, int64_t)>& known,
                    const std::function<XlaOp(XlaOp, XlaOp)>& computed) {
  if (one.known.has_value() && other.known.has_value()) {
    return SizeNumber::Known(Clamped(known(*one.known, *other.known)));
  }
  xla::XlaBuilder* const builder = BuilderOf(one, other);
  return SizeNumber::Computed(computed(one.AsOp(builder), other.AsOp(builder)), Clamped(low), Clamped(high));
}

}  // namespace

XlaOp SizeNumber::AsOp(xla::XlaBuilder* builder) const {
  return known.has_value() ? xla::ConstantR0<int32_t>(builder, static_cast<int32_t>(Clamped(*known))) : value;
}

SizeNumber Plus(const SizeNumber& one, const SizeNumber& other) {
  if (other.known == 0) return one;
  if (one.known == 0) return other;
  return Combined(one, other, one.low + other.low, one.high + other.high, std::plus<>(),
                  [](XlaOp a, XlaOp b) { return xla::Add(a, b); });
}

SizeNumber Minus(const SizeNumber& one, const SizeNumber& other) {
  if (other.known == 0) return one;
  return Combined(one, other, one.low - other.high, one.high - other.low, std::minus<>(),
                  [](XlaOp a, XlaOp b) { return xla::Sub(a, b); });
}

SizeNumber Least(const SizeNumber& one, const SizeNumber& other) {
  if (one.high <= other.low) return one;
  if (other.high <= one.low) return other;
  return Combined(
      one, other, std::min(one.low, other.low), std::min(one.high, other.high),
      [](int64_t a, int64_t b) { return std::min(a, b); }, [](XlaOp a, XlaOp b) { return xla::Min(a, b); });
}

SizeNumber Most(const SizeNumber& one, const SizeNumber& other) {
  if (one.low >= other.high) return one;
  if (other.low >= one.high) return other;
  return Combined(
      one, other, std::max(one.low, other.low), std::max(one.high, other.high),
      [](int64_t a, int64_t b) { return std::max(a, b); }, [](XlaOp a, XlaOp b) { return xla::Max(a, b); });
}

SizeNumber Times(const SizeNumber& one, const SizeNumber& other) {
  if (other.known == 1) return one;
  if (one.known == 1) return other;
  return Combined(one, other, std::min<int64_t>(0, one.low * other.low), one.high * other.high, std::multiplies<>(),
                  [](XlaOp a, XlaOp b) { return xla::Mul(a, b); });
}

SizeNumber DividedBy(const SizeNumber& one, int64_t divisor) {
  if (divisor == 1) return one;
  const auto divide = [&](int64_t number) { return (number + divisor - 1) / divisor; };
  if (one.known.has_value()) return SizeNumber::Known(divide(*one.known));
  const XlaOp step = xla::ScalarLike(one.value, divisor);
  return SizeNumber::Computed(xla::Div(one.value + xla::ScalarLike(one.value, divisor - 1), step), divide(one.low),
                              divide(one.high));
}

void RequireAtLeast(xla::XlaBuilder* builder, const SizeNumber& number, const SizeNumber& least) {
  if (number.low >= least.high) return;
  RequireAtLaunch(xla::Ge(number.AsOp(builder), least.AsOp(builder)));
}

SizeNumber SizeOf(XlaOp array, const xla::Shape& shape, int64_t d) {
  if (!shape.is_dynamic_dimension(d)) return SizeNumber::Known(shape.dimensions(d));
  return SizeNumber::Computed(xla::GetDimensionSize(array, d), 0, shape.dimensions(d));
}

std::vector<SizeNumber> SizesOf(XlaOp array, const xla::Shape& shape) {
  std::vector<SizeNumber> sizes;
  for (int64_t d = 0; d < shape.dimensions_size(); ++d) sizes.push_back(SizeOf(array, shape, d));
  return sizes;
}

absl::StatusOr<std::vector<SizeNumber>> SizeNumbersOf(tensorflow::XlaOpKernelContext* context, int input) {
  std::vector<SizeNumber> numbers;
  std::vector<int64_t> low, high;
  if (context->ConstantInputReshapedToIntVector(input, &high).ok()) {
    for (const int64_t number : high) numbers.push_back(SizeNumber::Known(Clamped(number)));
    return numbers;
  }
  HPU_RETURN_IF_ERROR(context->ConstantInputReshapedToIntVector(input, &high, xla::ValueInferenceMode::kUpperBound));
  if (!context->ConstantInputReshapedToIntVector(input, &low, xla::ValueInferenceMode::kLowerBound).ok()) {
    low.assign(high.size(), kLowest);
  }
  xla::Literal dynamic;
  HPU_RETURN_IF_ERROR(context->ResolveInputDynamism(input, &dynamic));
  // Without operations that change nothing, XLA finds the size of which the input was made.
  XlaOp all = context->Input(input);
  HPU_ASSIGN_OR_RETURN(const xla::Shape shape, context->InputXlaShape(input));
  if (shape.dimensions_size() != 1) all = xla::Reshape(all, {static_cast<int64_t>(high.size())});
  if (shape.element_type() != xla::S32) all = xla::ConvertElementType(all, xla::S32);
  for (size_t i = 0; i < high.size(); ++i) {
    const auto element = static_cast<int64_t>(i);
    numbers.push_back(!dynamic.data<bool>()[i]
                          ? SizeNumber::Known(Clamped(high[i]))
                          : SizeNumber::Computed(xla::Reshape(xla::SliceInDim(all, element, element + 1, 1, 0), {}),
                                                 Clamped(low[i]), Clamped(high[i])));
  }
  return numbers;
}

XlaOp SetSizes(XlaOp array, const std::vector<SizeNumber>& sizes) {
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!sizes[d].known.has_value()) array = xla::SetDimensionSize(array, sizes[d].value, static_cast<int64_t>(d));
  }
  return array;
}

XlaOp RemoveSizes(XlaOp array, const xla::Shape& shape) {
  for (int64_t d = 0; d < shape.dimensions_size(); ++d) {
    if (shape.is_dynamic_dimension(d)) array = xla::RemoveDynamicDimension(array, d);
  }
  return array;
}

}  // namespace hpu
