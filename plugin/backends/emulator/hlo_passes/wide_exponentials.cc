#include "plugin/backends/emulator/hlo_passes/wide_exponentials.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "plugin/base/status_macros.h"
#include "xla/literal_util.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

bool IsWideExponential(const HloInstruction* instruction) {
  return instruction->opcode() == HloOpcode::kExp && instruction->shape().element_type() == xla::F64 &&
         instruction->shape().dimensions_size() > 0;
}

// Builder of elementwise instructions of the shape, and in the computation, of `like`.
class Arithmetic {
 public:
  explicit Arithmetic(HloInstruction* like) : computation_(like->parent()), shape_(like->shape()) {}

  template <typename T>
  HloInstruction* Number(T number) const {
    HloInstruction* const scalar = Add(HloInstruction::CreateConstant(xla::LiteralUtil::CreateR0<T>(number)));
    const xla::Shape shape = xla::ShapeUtil::ChangeElementType(shape_, scalar->shape().element_type());
    return Add(HloInstruction::CreateBroadcast(shape, scalar, /*broadcast_dimensions=*/{}));
  }
  HloInstruction* Unary(HloOpcode opcode, HloInstruction* x) const {
    return Add(HloInstruction::CreateUnary(x->shape(), opcode, x));
  }
  HloInstruction* Binary(HloOpcode opcode, HloInstruction* x, HloInstruction* y) const {
    return Add(HloInstruction::CreateBinary(x->shape(), opcode, x, y));
  }
  HloInstruction* Recast(HloInstruction* x, xla::PrimitiveType type) const {
    return Add(HloInstruction::CreateBitcastConvert(xla::ShapeUtil::ChangeElementType(shape_, type), x));
  }

 private:
  HloInstruction* Add(std::unique_ptr<HloInstruction> instruction) const {
    return computation_->AddInstruction(std::move(instruction));
  }

  xla::HloComputation* const computation_;
  const xla::Shape shape_;
};

// 2^n, for int64 integers n from -1022 to 1023.
HloInstruction* PowerOfTwo(const Arithmetic& arithmetic, HloInstruction* n) {
  HloInstruction* const biased = arithmetic.Binary(HloOpcode::kAdd, n, arithmetic.Number<int64_t>(1023));
  HloInstruction* const bits = arithmetic.Binary(HloOpcode::kShiftLeft, biased, arithmetic.Number<int64_t>(52));
  return arithmetic.Recast(bits, xla::F64);
}

// e^r for r from -ln 2 / 2 to ln 2 / 2, by its Taylor series. The first omitted term is at most 6e-18 of the result.
HloInstruction* SmallExponential(const Arithmetic& arithmetic, HloInstruction* r) {
  constexpr int kTerms = 13;
  double factorials[kTerms + 1] = {1};
  for (int i = 1; i <= kTerms; ++i) factorials[i] = factorials[i - 1] * i;
  HloInstruction* sum = arithmetic.Number(1 / factorials[kTerms]);
  for (int i = kTerms - 1; i >= 0; --i) {
    HloInstruction* const product = arithmetic.Binary(HloOpcode::kMultiply, sum, r);
    sum = arithmetic.Binary(HloOpcode::kAdd, product, arithmetic.Number(1 / factorials[i]));
  }
  return sum;
}

HloInstruction* Expanded(HloInstruction* exponential) {
  // Below kMin, the result is zero; above kMax, it is infinity.
  constexpr double kMin = -746, kMax = 710;
  // kLn2High has 21 bits, so its products with n are exact.
  constexpr double kLog2E = 1.4426950408889634, kLn2High = 0x1.62e42p-1, kLn2Low = 0x1.fdf473de6af28p-22;
  const Arithmetic a(exponential);
  HloInstruction* x = exponential->mutable_operand(0);
  x = a.Binary(HloOpcode::kMaximum, x, a.Number(kMin));
  x = a.Binary(HloOpcode::kMinimum, x, a.Number(kMax));
  HloInstruction* const n = a.Unary(HloOpcode::kRoundNearestEven, a.Binary(HloOpcode::kMultiply, x, a.Number(kLog2E)));
  HloInstruction* r = a.Binary(HloOpcode::kSubtract, x, a.Binary(HloOpcode::kMultiply, n, a.Number(kLn2High)));
  r = a.Binary(HloOpcode::kSubtract, r, a.Binary(HloOpcode::kMultiply, n, a.Number(kLn2Low)));
  // Multiplies in two steps, because 2^n itself may overflow or underflow. Converts through int32: without AVX-512
  // there is no vector conversion from float64 to int64.
  HloInstruction* const whole = Converted(Converted(n, xla::S32), xla::S64);
  HloInstruction* const half = a.Binary(HloOpcode::kShiftRightArithmetic, whole, a.Number<int64_t>(1));
  HloInstruction* const rest = a.Binary(HloOpcode::kSubtract, whole, half);
  HloInstruction* const scaled = a.Binary(HloOpcode::kMultiply, SmallExponential(a, r), PowerOfTwo(a, half));
  return a.Binary(HloOpcode::kMultiply, scaled, PowerOfTwo(a, rest));
}

std::vector<HloInstruction*> WideExponentials(xla::HloModule* module, bool fused) {
  std::vector<HloInstruction*> found;
  for (xla::HloComputation* computation : module->computations()) {
    if (computation->IsFusionComputation() != fused) continue;
    for (HloInstruction* instruction : computation->instructions()) {
      if (IsWideExponential(instruction)) found.push_back(instruction);
    }
  }
  return found;
}

}  // namespace

absl::Status ExpandWideExponentials(xla::HloModule* module) {
  for (HloInstruction* alone : WideExponentials(module, /*fused=*/false)) {
    const std::string threads = alone->raw_backend_config_string();
    alone->parent()
        ->CreateFusionInstruction({alone}, HloInstruction::FusionKind::kLoop)
        ->set_raw_backend_config_string(threads);
  }
  for (HloInstruction* exponential : WideExponentials(module, /*fused=*/true)) {
    HPU_RETURN_IF_ERROR(exponential->ReplaceAllUsesWith(Expanded(exponential)));
    HPU_RETURN_IF_ERROR(exponential->parent()->RemoveInstruction(exponential));
  }
  return absl::OkStatus();
}

}  // namespace hpu::emulator
