#include "plugin/backends/emulator/hlo_passes/elementary_function_pass.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "plugin/backends/emulator/kernels/elementary_function.h"
#include "plugin/base/status_macros.h"
#include "xla/comparison_util.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/literal.h"
#include "xla/service/hlo_creation_utils.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using Direction = xla::ComparisonDirection;

// Below this size, a kernel call costs as much as it saves.
constexpr int64_t kMinElementaryFunctionElements = 512;

// The scalar that is broadcast to the array; null if there is none.
HloInstruction* RepeatedBy(HloInstruction* array) {
  HloInstruction* broadcast = SourceOf(array);
  const bool repeats = broadcast->opcode() == HloOpcode::kBroadcast && broadcast->dimensions().empty() &&
                       broadcast->operand(0)->shape().rank() == 0;
  return repeats ? broadcast->mutable_operand(0) : nullptr;
}

std::optional<float> NumberRepeatedBy(HloInstruction* array) {
  HloInstruction* scalar = RepeatedBy(array);
  return scalar == nullptr ? std::nullopt : ScalarOf(scalar);
}

bool Repeats(HloInstruction* array, float number) { return NumberRepeatedBy(array) == number; }

bool IsWorthIt(const xla::Shape& shape) {
  return IsFloatArray(shape) && xla::ShapeUtil::ElementsIn(shape) >= kMinElementaryFunctionElements;
}

absl::StatusOr<HloInstruction*> CallOf(ElementaryFunction::Function function,
                                       absl::Span<HloInstruction* const> operands, bool uniform, KernelCalls* calls) {
  const xla::Shape& shape = operands[0]->shape();
  const ElementaryFunction kernel{function, shape.element_type() == xla::BF16, uniform,
                                  xla::ShapeUtil::ElementsIn(shape)};
  return calls->Add(kernel.Spec(), operands, shape);
}

absl::StatusOr<HloInstruction*> OfOne(ElementaryFunction::Function function, HloInstruction* instruction,
                                      KernelCalls* calls) {
  HloInstruction* x = instruction->mutable_operand(0);
  // XLA folds constants at compile time, and computes uniform values only once.
  if (!IsWorthIt(x->shape()) || SourceOf(x)->opcode() == HloOpcode::kConstant || RepeatedBy(x) != nullptr) {
    return nullptr;
  }
  return CallOf(function, {x}, /*uniform=*/false, calls);
}

absl::StatusOr<HloInstruction*> OfTwo(ElementaryFunction::Function function, HloInstruction* instruction,
                                      KernelCalls* calls) {
  HloInstruction *first = instruction->mutable_operand(0), *second = instruction->mutable_operand(1);
  if (!IsWorthIt(first->shape()) || SourceOf(first)->opcode() == HloOpcode::kConstant) return nullptr;
  HloInstruction* scalar = RepeatedBy(second);
  return CallOf(function, {first, scalar == nullptr ? second : scalar}, scalar != nullptr, calls);
}

// tf.math.atan is the angle of (1, x).
absl::StatusOr<HloInstruction*> AngleOf(HloInstruction* angle, KernelCalls* calls) {
  if (Repeats(angle->mutable_operand(1), 1)) return OfOne(ElementaryFunction::Function::kArcTangent, angle, calls);
  return OfTwo(ElementaryFunction::Function::kArcTangent2, angle, calls);
}

// SourceOf(instruction) if it has this opcode, else null.
HloInstruction* As(HloOpcode opcode, HloInstruction* instruction) {
  HloInstruction* source = SourceOf(instruction);
  return source->opcode() == opcode ? source : nullptr;
}

// The second operand of a binary instruction whose first operand is the constant `number`; else null.
HloInstruction* Beside(float number, HloOpcode opcode, HloInstruction* instruction) {
  HloInstruction* source = As(opcode, instruction);
  if (source == nullptr || !Repeats(source->mutable_operand(0), number)) return nullptr;
  return SourceOf(source->mutable_operand(1));
}

// True for sqrt(1 - x * x).
bool IsOtherLeg(HloInstruction* root, const HloInstruction* x) {
  const HloInstruction* sqrt = As(HloOpcode::kSqrt, root);
  if (sqrt == nullptr) return false;
  HloInstruction* square = Beside(1, HloOpcode::kSubtract, sqrt->operands()[0]);
  if (square == nullptr || square->opcode() != HloOpcode::kMultiply) return false;
  return SourceOf(square->mutable_operand(0)) == x && SourceOf(square->mutable_operand(1)) == x;
}

// The arctangent in 2 * atan2(…).
HloInstruction* DoubledArcTangent(HloInstruction* multiply) {
  HloInstruction* angle = Beside(2, HloOpcode::kMultiply, multiply);
  return angle != nullptr && angle->opcode() == HloOpcode::kAtan2 ? angle : nullptr;
}

// 2 * atan2(x, 1 + sqrt(1 - x * x)).
absl::StatusOr<HloInstruction*> ArcSineOf(HloInstruction* multiply, KernelCalls* calls) {
  HloInstruction* angle = DoubledArcTangent(multiply);
  if (angle == nullptr || !IsWorthIt(multiply->shape())) return nullptr;
  HloInstruction* x = SourceOf(angle->mutable_operand(0));
  HloInstruction* root = Beside(1, HloOpcode::kAdd, angle->mutable_operand(1));
  if (root == nullptr || !IsOtherLeg(root, x)) return nullptr;
  return CallOf(ElementaryFunction::Function::kArcSine, {x}, /*uniform=*/false, calls);
}

// x != -1 ? 2 * atan2(sqrt(1 - x * x), 1 + x) : pi.
absl::StatusOr<HloInstruction*> ArcCosineOf(HloInstruction* select, KernelCalls* calls) {
  HloInstruction* compare = As(HloOpcode::kCompare, select->mutable_operand(0));
  HloInstruction* angle = DoubledArcTangent(select->mutable_operand(1));
  if (compare == nullptr || angle == nullptr || !IsWorthIt(select->shape()) ||
      compare->comparison_direction() != Direction::kNe || !Repeats(compare->mutable_operand(1), -1)) {
    return nullptr;
  }
  HloInstruction* x = SourceOf(compare->mutable_operand(0));
  if (!IsOtherLeg(angle->mutable_operand(0), x) || Beside(1, HloOpcode::kAdd, angle->mutable_operand(1)) != x) {
    return nullptr;
  }
  return CallOf(ElementaryFunction::Function::kArcCosine, {x}, /*uniform=*/false, calls);
}

// Rewrites log(1 + x) - log(1 - x), twice the inverse hyperbolic tangent, to one logarithm.
absl::StatusOr<HloInstruction*> DifferenceOfLogs(HloInstruction* subtract) {
  const HloInstruction* first = As(HloOpcode::kLog1p, subtract->mutable_operand(0));
  const HloInstruction* second = As(HloOpcode::kLog1p, subtract->mutable_operand(1));
  if (first == nullptr || second == nullptr || !IsFloatArray(subtract->shape())) return nullptr;
  HloInstruction* x = SourceOf(first->operands()[0]);
  HloInstruction* negate = As(HloOpcode::kNegate, second->operands()[0]);
  if (negate == nullptr || SourceOf(negate->mutable_operand(0)) != x) return nullptr;
  // log(1 + 2 |x| / (1 - |x|)). Uses |x|, because for negative x the quotient would come close to -1.
  HPU_ASSIGN_OR_RETURN(HloInstruction * magnitude, xla::MakeUnaryHlo(HloOpcode::kAbs, x));
  HPU_ASSIGN_OR_RETURN(HloInstruction * doubled, xla::MakeBinaryHlo(HloOpcode::kAdd, magnitude, magnitude));
  HPU_ASSIGN_OR_RETURN(HloInstruction * rest,
                       xla::MakeBinaryHlo(HloOpcode::kSubtract, xla::MakeScalarLike(x, 1.0f), magnitude));
  HPU_ASSIGN_OR_RETURN(HloInstruction * quotient, xla::MakeBinaryHlo(HloOpcode::kDivide, doubled, rest));
  HPU_ASSIGN_OR_RETURN(HloInstruction * log, xla::MakeUnaryHlo(HloOpcode::kLog1p, quotient));
  HPU_ASSIGN_OR_RETURN(HloInstruction * sign, xla::MakeUnaryHlo(HloOpcode::kSign, x));
  return xla::MakeBinaryHlo(HloOpcode::kMultiply, sign, log);
}

// x^-0.5, which local response normalisation contains; XLA only turns x^0.5 into a root. Unlike 1 / sqrt(x), it is
// infinity for -0 and 0 for -infinity.
absl::StatusOr<HloInstruction*> ReciprocalRoot(HloInstruction* x) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto like_x = [x](float number) { return xla::MakeScalarLike(x, number); };
  HPU_ASSIGN_OR_RETURN(HloInstruction * magnitude, xla::MakeUnaryHlo(HloOpcode::kAbs, x));
  HPU_ASSIGN_OR_RETURN(HloInstruction * root, xla::MakeUnaryHlo(HloOpcode::kRsqrt, magnitude));
  HPU_ASSIGN_OR_RETURN(HloInstruction * negative, xla::MakeCompareHlo(Direction::kLt, x, like_x(0.0f)));
  HPU_ASSIGN_OR_RETURN(HloInstruction * finite, xla::MakeCompareHlo(Direction::kLt, magnitude, like_x(kInfinity)));
  HPU_ASSIGN_OR_RETURN(HloInstruction * undefined, xla::MakeBinaryHlo(HloOpcode::kAnd, negative, finite));
  return xla::MakeSelectHlo(undefined, like_x(std::numeric_limits<float>::quiet_NaN()), root);
}

bool IsMadeProductsOrRoots(float exponent) {
  return exponent == 0 || exponent == 0.5 || exponent == 1 || exponent == 2 || exponent == 3 || exponent == -1;
}

// In gradients, the exponent is a difference of constants, which XLA folds later.
std::optional<float> ExponentOf(HloInstruction* power) {
  HloInstruction* scalar = RepeatedBy(power->mutable_operand(1));
  xla::Literal exponent;
  if (scalar == nullptr || !xla::HloEvaluator().TryEvaluate(scalar, &exponent, true)) return std::nullopt;
  return exponent.GetAsDouble({});
}

absl::StatusOr<HloInstruction*> PowerOf(HloInstruction* power, KernelCalls* calls) {
  const std::optional<float> exponent = ExponentOf(power);
  if (exponent.has_value() && IsMadeProductsOrRoots(*exponent)) return nullptr;
  if (exponent == -0.5f && IsWorthIt(power->shape())) return ReciprocalRoot(power->mutable_operand(0));
  return OfTwo(ElementaryFunction::Function::kPower, power, calls);
}

}  // namespace

absl::Status UseElementaryFunctionKernels(xla::HloModule* module, KernelCalls* calls) {
  HPU_RETURN_IF_ERROR(
      ReplaceAll(module, HloOpcode::kSelect, [calls](HloInstruction* select) { return ArcCosineOf(select, calls); }));
  HPU_RETURN_IF_ERROR(ReplaceAll(module, HloOpcode::kMultiply,
                                 [calls](HloInstruction* multiply) { return ArcSineOf(multiply, calls); }));
  HPU_RETURN_IF_ERROR(ReplaceAll(module, HloOpcode::kSubtract, DifferenceOfLogs));
  HPU_RETURN_IF_ERROR(
      ReplaceAll(module, HloOpcode::kPower, [calls](HloInstruction* power) { return PowerOf(power, calls); }));
  HPU_RETURN_IF_ERROR(
      ReplaceAll(module, HloOpcode::kAtan2, [calls](HloInstruction* angle) { return AngleOf(angle, calls); }));
  for (const auto& [opcode, function] : {std::pair(HloOpcode::kSin, ElementaryFunction::Function::kSine),
                                         {HloOpcode::kCos, ElementaryFunction::Function::kCosine},
                                         {HloOpcode::kTan, ElementaryFunction::Function::kTangent}}) {
    HPU_RETURN_IF_ERROR(ReplaceAll(module, opcode, [calls, function = function](HloInstruction* instruction) {
      return OfOne(function, instruction, calls);
    }));
  }
  return absl::OkStatus();
}

}  // namespace hpu::emulator
