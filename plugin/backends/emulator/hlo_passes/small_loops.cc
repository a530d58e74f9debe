#include "plugin/backends/emulator/hlo_passes/small_loops.h"

#include <cstdint>
#include <vector>

#include "plugin/base/status_macros.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

// Number of vectorised operations that take as long as starting a second thread: about ten microseconds.
constexpr int64_t kFewOperations = 1 << 17;

// Number of operations per element; -1 if the instruction prevents vectorisation.
int64_t OperationsOfElement(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kParameter:
    case HloOpcode::kConstant:
    case HloOpcode::kBitcast:
    case HloOpcode::kBroadcast:
      return 0;
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kIota:
    case HloOpcode::kSlice:
      return 1;
    case HloOpcode::kDivide:
    case HloOpcode::kSqrt:
    case HloOpcode::kRsqrt:
      return 8;
    case HloOpcode::kExp:
    case HloOpcode::kLog:
    case HloOpcode::kTanh:
      return 24;
    case HloOpcode::kAbs:
    case HloOpcode::kAdd:
    case HloOpcode::kAnd:
    case HloOpcode::kClamp:
    case HloOpcode::kCompare:
    case HloOpcode::kComplex:
    case HloOpcode::kCopy:
    case HloOpcode::kImag:
    case HloOpcode::kMaximum:
    case HloOpcode::kMinimum:
    case HloOpcode::kMultiply:
    case HloOpcode::kNegate:
    case HloOpcode::kNot:
    case HloOpcode::kOr:
    case HloOpcode::kReal:
    case HloOpcode::kSelect:
    case HloOpcode::kSubtract:
      return 1;
    case HloOpcode::kConvert:
      return instruction.shape().element_type() == xla::BF16 ? 4 : 1;
    default:
      return -1;
  }
}

bool IsSmall(const HloInstruction& loop) {
  if (!loop.shape().IsArray()) return false;
  if (loop.opcode() != HloOpcode::kFusion) {
    const int64_t operations = OperationsOfElement(loop);
    return operations >= 0 && operations * xla::ShapeUtil::ElementsIn(loop.shape()) < kFewOperations;
  }
  int64_t all = 0;
  for (const HloInstruction* inner : loop.fused_instructions()) {
    const int64_t operations = OperationsOfElement(*inner);
    if (operations < 0) return false;
    if (operations > 0) all += operations * xla::ShapeUtil::ElementsIn(inner->shape());
  }
  return all < kFewOperations;
}

// Replaces the call by its loop, without XLA's annotation of the loop's parts.
absl::Status Join(HloInstruction* call, const HloInstruction& loop) {
  std::vector<HloInstruction*> operands;
  for (const HloInstruction* parameter : loop.operands()) {
    operands.push_back(call->mutable_operand(parameter->parameter_number()));
  }
  HloComputation* computation = call->parent();
  HloInstruction* joined = computation->AddInstruction(loop.CloneWithNewOperands(loop.shape(), operands));
  joined->clear_backend_config();
  HPU_RETURN_IF_ERROR(joined->CopyAllControlDepsFrom(call));
  HPU_RETURN_IF_ERROR(call->DropAllControlDeps());
  return computation->ReplaceInstruction(call, joined);
}

}  // namespace

HloInstruction* SplitLoop(const HloInstruction& call) {
  if (call.opcode() != HloOpcode::kCall || call.to_apply()->num_parameters() != call.operand_count()) return nullptr;
  HloInstruction* loop = call.to_apply()->root_instruction();
  if (call.to_apply()->instruction_count() != call.operand_count() + 1) return nullptr;
  for (const HloInstruction* operand : loop->operands()) {
    if (operand->opcode() != HloOpcode::kParameter) return nullptr;
  }
  return loop->has_backend_config() ? loop : nullptr;
}

absl::Status JoinSmallLoops(xla::HloModule* module) {
  for (HloComputation* computation : module->MakeNonfusionComputations()) {
    for (HloInstruction* call : computation->MakeInstructionPostOrder()) {
      const HloInstruction* loop = SplitLoop(*call);
      if (loop != nullptr && IsSmall(*loop)) HPU_RETURN_IF_ERROR(Join(call, *loop));
    }
  }
  return module->RemoveUnusedComputations();
}

}  // namespace hpu::emulator
