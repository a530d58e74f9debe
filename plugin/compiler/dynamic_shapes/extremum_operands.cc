#include "plugin/compiler/dynamic_shapes/extremum_operands.h"

#include <vector>

#include "plugin/base/status_macros.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hpu {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

bool IsExtremum(const HloInstruction& reduce) {
  if (reduce.opcode() != HloOpcode::kReduce || !reduce.shape().IsArray()) return false;
  const HloOpcode opcode = reduce.to_apply()->root_instruction()->opcode();
  return opcode == HloOpcode::kMaximum || opcode == HloOpcode::kMinimum;
}

// Whether a select of the padder replaces the elements past a size by a constant.
bool IsPaddingMask(const HloInstruction& select, const Instructions& selects) {
  return select.opcode() == HloOpcode::kSelect && !selects.contains(&select) &&
         select.operand(2)->opcode() == HloOpcode::kBroadcast && select.operand(2)->operand(0)->IsConstant() &&
         select.operand(0)->opcode() == HloOpcode::kCompare &&
         select.operand(0)->operand(0)->opcode() == HloOpcode::kIota;
}

}  // namespace

Instructions FindSelects(const xla::HloModule& module) {
  Instructions selects;
  for (const xla::HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() == HloOpcode::kSelect) selects.insert(instruction);
    }
  }
  return selects;
}

absl::Status ShareExtremumOperands(xla::HloModule* module, const Instructions& selects) {
  for (xla::HloComputation* computation : module->computations()) {
    for (HloInstruction* reduce : computation->MakeInstructionPostOrder()) {
      if (!IsExtremum(*reduce)) continue;
      HloInstruction* const masked = reduce->mutable_operand(0);
      HloInstruction* operand = masked;
      Instructions masks;
      while (IsPaddingMask(*operand, selects)) {
        masks.insert(operand);
        operand = operand->mutable_operand(1);
      }
      if (operand == masked) continue;
      for (HloInstruction* user : std::vector<HloInstruction*>(operand->users())) {
        if (!masks.contains(user)) HPU_RETURN_IF_ERROR(operand->ReplaceUseWith(user, masked));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace hpu
