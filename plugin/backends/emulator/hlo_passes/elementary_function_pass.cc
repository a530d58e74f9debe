#include "plugin/backends/emulator/hlo_passes/elementary_function_pass.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "plugin/backends/common/hlo/instructions.h"
#include "plugin/backends/emulator/kernels/elementary_function.h"
#include "plugin/base/status_macros.h"
#include "xla/comparison_util.h"
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
  HloInstruction* broadcast = hlo::SourceOf(array);
  const bool repeats = broadcast->opcode() == HloOpcode::kBroadcast && broadcast->dimensions().empty() &&
                       broadcast->operand(0)->shape().dimensions_size() == 0;
  return repeats ? broadcast->mutable_operand(0) : nullptr;
}

std::optional<float> NumberRepeatedBy(HloInstruction* array) {
  HloInstruction* scalar = RepeatedBy(array);
  return scalar == nullptr ? std::nullopt : hlo::ScalarOf(scalar);
}

bool Repeats(HloInstruction* array, float number) { return NumberRepeatedBy(array) == number; }

bool IsWorthIt(const xla::Shape& shape) {
  return hlo::IsFloatArray(shape) && xla::ShapeUtil::ElementsIn(shape) >= kMinElementaryFunctionElements;
}

absl::StatusOr<HloInstruction*> CallOf(ElementaryFunction::Function function,
                                       absl::Span<HloInstruction* const> operands, KernelCalls* calls) {
  const xla::Shape& shape = operands[0]->shape();
  const ElementaryFunction kernel{function, shape.element_type() == xla::BF16, xla::ShapeUtil::ElementsIn(shape)};
  return calls->Add(kernel.Spec(), operands, shape);
}

absl::StatusOr<HloInstruction*> OfOne(ElementaryFunction::Function function, HloInstruction* instruction,
                                      KernelCalls* calls) {
  HloInstruction* x = instruction->mutable_operand(0);
  // XLA folds constants at compile time, and computes uniform values only once.
  if (!IsWorthIt(x->shape()) || hlo::SourceOf(x)->opcode() == HloOpcode::kConstant || RepeatedBy(x) != nullptr) {
    return nullptr;
  }
  return CallOf(function, {x}, calls);
}

// tf.math.atan is the angle of (1, x).
absl::StatusOr<HloInstruction*> AngleOf(HloInstruction* angle, KernelCalls* calls) {
  if (Repeats(angle->mutable_operand(1), 1)) return OfOne(ElementaryFunction::Function::kArcTangent, angle, calls);
  HloInstruction *y = angle->mutable_operand(0), *x = angle->mutable_operand(1);
  if (!IsWorthIt(y->shape()) || hlo::SourceOf(y)->opcode() == HloOpcode::kConstant) return nullptr;
  return CallOf(ElementaryFunction::Function::kArcTangent2, {y, x}, calls);
}

// hlo::SourceOf(instruction) if it has this opcode, else null.
HloInstruction* As(HloOpcode opcode, HloInstruction* instruction) {
  HloInstruction* source = hlo::SourceOf(instruction);
  return source->opcode() == opcode ? source : nullptr;
}

// The second operand of a binary instruction whose first operand is the constant `number`; else null.
HloInstruction* Beside(float number, HloOpcode opcode, HloInstruction* instruction) {
  HloInstruction* source = As(opcode, instruction);
  if (source == nullptr || !Repeats(source->mutable_operand(0), number)) return nullptr;
  return hlo::SourceOf(source->mutable_operand(1));
}

// True for sqrt(1 - x * x).
bool IsSqrtOfOneMinusSquare(HloInstruction* root, const HloInstruction* x) {
  const HloInstruction* sqrt = As(HloOpcode::kSqrt, root);
  if (sqrt == nullptr) return false;
  HloInstruction* square = Beside(1, HloOpcode::kSubtract, sqrt->operands()[0]);
  if (square == nullptr || square->opcode() != HloOpcode::kMultiply) return false;
  return hlo::SourceOf(square->mutable_operand(0)) == x && hlo::SourceOf(square->mutable_operand(1)) == x;
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
  HloInstruction* x = hlo::SourceOf(angle->mutable_operand(0));
  HloInstruction* root = Beside(1, HloOpcode::kAdd, angle->mutable_operand(1));
  if (root == nullptr || !IsSqrtOfOneMinusSquare(root, x)) return nullptr;
  return CallOf(ElementaryFunction::Function::kArcSine, {x}, calls);
}

// x != -1 ? 2 * atan2(sqrt(1 - x * x), 1 + x) : pi.
absl::StatusOr<HloInstruction*> ArcCosineOf(HloInstruction* select, KernelCalls* calls) {
  HloInstruction* compare = As(HloOpcode::kCompare, select->mutable_operand(0));
  HloInstruction* angle = DoubledArcTangent(select->mutable_operand(1));
  if (compare == nullptr || angle == nullptr || !IsWorthIt(select->shape()) ||
      compare->comparison_direction() != Direction::kNe || !Repeats(compare->mutable_operand(1), -1)) {
    return nullptr;
  }
  HloInstruction* x = hlo::SourceOf(compare->mutable_operand(0));
  if (!IsSqrtOfOneMinusSquare(angle->mutable_operand(0), x) ||
      Beside(1, HloOpcode::kAdd, angle->mutable_operand(1)) != x) {
    return nullptr;
  }
  return CallOf(ElementaryFunction::Function::kArcCosine, {x}, calls);
}

}  // namespace

absl::Status UseElementaryFunctionKernels(xla::HloModule* module, KernelCalls* calls) {
  HPU_RETURN_IF_ERROR(
      ReplaceAll(module, HloOpcode::kSelect, [calls](HloInstruction* select) { return ArcCosineOf(select, calls); }));
  HPU_RETURN_IF_ERROR(ReplaceAll(module, HloOpcode::kMultiply,
                                 [calls](HloInstruction* multiply) { return ArcSineOf(multiply, calls); }));
  HPU_RETURN_IF_ERROR(
      ReplaceAll(module, HloOpcode::kAtan2, [calls](HloInstruction* angle) { return AngleOf(angle, calls); }));
  for (const auto& [opcode, function] : {std::pair(HloOpcode::kSin, ElementaryFunction::Function::kSine),
                                         {HloOpcode::kCos, ElementaryFunction::Function::kCosine}}) {
    HPU_RETURN_IF_ERROR(ReplaceAll(module, opcode, [calls, function = function](HloInstruction* instruction) {
      return OfOne(function, instruction, calls);
    }));
  }
  return absl::OkStatus();
}

}  // namespace hpu::emulator
