// Lowering of Atan2. Compiled code reads denormals as 0, so XLA's quotient of two denormals is NaN. Here they are
// scaled.
#include <cstdint>

#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/lowerings/elementwise_lowering.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu {
namespace {

using xla::XlaOp;

// Numbers of a floating-point type.
struct FloatLayout {
  xla::PrimitiveType bits;  // type of the number's bits
  int64_t least_normal;     // bits of the smallest number that is not denormal
  int64_t magnitude;        // mask of all bits but the sign
  double tiny;              // numbers below it do not overflow if they are scaled
  double scale;
  double least_scaled;  // the smallest denormal times `scale`
};
constexpr FloatLayout kFloatLayout = {xla::S32, 0x00800000, 0x7FFFFFFF, 0x1p-100, 0x1p120, 0x1p-29};
constexpr FloatLayout kDoubleLayout = {xla::S64, 0x0010000000000000, 0x7FFFFFFFFFFFFFFF, 0x1p-900, 0x1p1000, 0x1p-74};

// x without denormals: scaled where `is_tiny`, which does not change quotients of tiny numbers, else 0 for a denormal.
XlaOp WithoutDenormals(XlaOp x, XlaOp is_tiny, const FloatLayout& layout, xla::PrimitiveType type) {
  const XlaOp bits = xla::BitcastConvertType(x, layout.bits);
  const XlaOp magnitude = bits & xla::ConstantR0WithType(x.builder(), layout.bits, layout.magnitude);
  const XlaOp least = xla::ConstantR0WithType(x.builder(), layout.bits, layout.least_normal);
  const XlaOp is_denormal = xla::Lt(magnitude, least);
  // The bits of a denormal are its multiple of the smallest denormal.
  const XlaOp multiple = xla::ConvertElementType(magnitude, type) * Scalar(x, layout.least_scaled);
  const XlaOp scaled = xla::Abs(x) * Scalar(x, layout.scale);
  const XlaOp normal = xla::Select(is_tiny, scaled, xla::Abs(x));
  const XlaOp denormal = xla::Select(is_tiny, multiple, xla::ZerosLike(x));
  const XlaOp result = xla::Select(is_denormal, denormal, normal);
  return xla::Select(xla::Lt(bits, xla::ZerosLike(bits)), -result, result);
}

XlaOp Atan2(XlaOp y, XlaOp x, xla::PrimitiveType type) {
  const FloatLayout& layout = type == xla::F64 ? kDoubleLayout : kFloatLayout;
  const XlaOp is_tiny = xla::Lt(xla::Max(xla::Abs(y), xla::Abs(x)), Scalar(x, layout.tiny));
  return xla::Atan2(WithoutDenormals(y, is_tiny, layout, type), WithoutDenormals(x, is_tiny, layout, type));
}

REGISTER_XLA_OP(Name("Atan2").Device(kCompilationDevice), PairLowering<Atan2>)

}  // namespace
}  // namespace hpu
