// Lowering of Pow. XLA uses only six bits of an integer exponent; the CPU's kernel uses all bits, and products wrap.
#include <cstdint>
#include <vector>

#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/lib/broadcast.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/loops.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/literal.h"
#include "xla/primitive_util.h"

namespace hpu {
namespace {

using xla::XlaOp;

constexpr int kExponentBits = 6;  // that XLA uses
constexpr int64_t kMaxExponent = (1 << kExponentBits) - 1;

// Whether the exponents are known while the op compiles, and none exceeds kMaxExponent.
bool AreSmall(tensorflow::XlaOpKernelContext* context, int input) {
  xla::Literal exponents;
  if (!context->ConstantInput(input, &exponents).ok()) return false;
  const absl::StatusOr<xla::Literal> wide = exponents.Convert(xla::S64);
  if (!wide.ok()) return false;
  for (const int64_t exponent : wide->data<int64_t>()) {
    if (exponent > kMaxExponent) return false;
  }
  return true;
}

// Squares as long as an exponent has bits left. As in XLA, negative exponents have the power 0, or that of 1 or -1.
absl::StatusOr<XlaOp> IntegerPower(XlaOp base, XlaOp exponent) {
  const XlaOp zero = xla::ZerosLike(exponent), low = exponent & xla::ScalarLike(exponent, kMaxExponent);
  const XlaOp negative = xla::Lt(exponent, zero);
  const XlaOp power = xla::Pow(base, xla::Select(negative, exponent, low));
  XlaOp square = base;
  for (int i = 0; i < kExponentBits; ++i) square = square * square;
  const XlaOp rest = xla::ShiftRightLogical(xla::Max(exponent, zero), xla::ScalarLike(exponent, kExponentBits));
  const auto more = [](absl::Span<const XlaOp> state, xla::XlaBuilder*) -> absl::StatusOr<XlaOp> {
    return xla::Any(xla::Ne(state[0], xla::ZerosLike(state[0])));
  };
  const auto turn = [](absl::Span<const XlaOp> state, xla::XlaBuilder*) -> absl::StatusOr<std::vector<XlaOp>> {
    const XlaOp rest = state[0], square = state[1], power = state[2], one = xla::ScalarLike(rest, 1);
    const XlaOp odd = xla::Ne(rest & one, xla::ZerosLike(rest));
    return std::vector<XlaOp>{xla::ShiftRightLogical(rest, one), square * square,
                              xla::Select(odd, power * square, power)};
  };
  const auto state = xla::WhileLoopHelper(more, turn, {rest, square, power}, "integer_power", base.builder());
  if (!state.ok()) return state.status();
  return (*state)[2];
}

class PowerLowering : public tensorflow::XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;
  void Compile(tensorflow::XlaOpKernelContext* context) override {
    XlaOp base = context->Input(0), exponent = context->Input(1);
    OP_REQUIRES_OK(context, tensorflow::BroadcastOpsToSame(&base, &exponent));
    if (!xla::primitive_util::IsIntegralType(context->input_xla_type(0)) || AreSmall(context, 1)) {
      context->SetOutput(0, xla::Pow(base, exponent));
      return;
    }
    const absl::StatusOr<XlaOp> power = IntegerPower(base, exponent);
    OP_REQUIRES_OK(context, power.status());
    context->SetOutput(0, *power);
  }
};

REGISTER_XLA_OP(Name("Pow").Device(kCompilationDevice), PowerLowering)

}  // namespace
}  // namespace hpu
