#include "plugin/backends/gaudi/lowerings/elementwise_operands.h"

#include "plugin/backends/gaudi/plan/narrow_integers.h"
#include "plugin/base/status_macros.h"
#include "xla/primitive_util.h"

namespace hpu::gaudi {

absl::StatusOr<std::vector<TensorId>> ElementwiseOperands(Lowering& lowering, const xla::HloInstruction& instruction) {
  std::vector<TensorId> operands;
  for (const xla::HloInstruction* operand : instruction.operands()) {
    HPU_ASSIGN_OR_RETURN(TensorId id, lowering.Broadcastable(operand));
    if (operand->shape().element_type() == xla::U16) {
      HPU_ASSIGN_OR_RETURN(id, ToWord(lowering.builder(), id, xla::U16));
    }
    operands.push_back(id);
  }
  return operands;
}

absl::Status SetElementwiseResult(Lowering& lowering, const xla::HloInstruction& instruction,
                                  absl::StatusOr<TensorId> value) {
  HPU_RETURN_IF_ERROR(value.status());
  if (instruction.shape().element_type() == xla::U16) return SetWordResult(lowering, instruction, value);
  lowering.SetBroadcastable(instruction, *value);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TensorId>> WordOperands(Lowering& lowering, const xla::HloInstruction& instruction) {
  std::vector<TensorId> operands;
  for (const xla::HloInstruction* operand : instruction.operands()) {
    HPU_ASSIGN_OR_RETURN(TensorId id, lowering.Broadcastable(operand));
    const xla::PrimitiveType type = operand->shape().element_type();
    if (xla::primitive_util::BitWidth(type) < 32) {
      HPU_ASSIGN_OR_RETURN(id, ToWord(lowering.builder(), id, type));
    }
    operands.push_back(id);
  }
  return operands;
}

absl::Status SetWordResult(Lowering& lowering, const xla::HloInstruction& instruction, absl::StatusOr<TensorId> value) {
  HPU_RETURN_IF_ERROR(value.status());
  const xla::PrimitiveType type = instruction.shape().element_type();
  if (xla::primitive_util::BitWidth(type) < 32) {
    HPU_ASSIGN_OR_RETURN(*value, FromWord(lowering.builder(), *value, type));
  }
  lowering.SetBroadcastable(instruction, *value);
  return absl::OkStatus();
}

bool IsExtremum(xla::HloOpcode opcode) {
  return opcode == xla::HloOpcode::kMaximum || opcode == xla::HloOpcode::kMinimum;
}

bool HasHiddenSign(const xla::HloInstruction& instruction) {
  const xla::PrimitiveType type = instruction.shape().element_type();
  return type == xla::U32 || type == xla::U64;
}

bool IsUnsigned(const xla::HloInstruction& instruction) {
  return xla::primitive_util::IsUnsignedIntegralType(instruction.shape().element_type());
}

}  // namespace hpu::gaudi
