#include "plugin/backends/emulator/hlo_passes/exact_roundings.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/base/casts.h"
#include "absl/container/flat_hash_map.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "plugin/base/status_macros.h"
#include "xla/literal_util.h"
#include "xla/service/hlo_creation_utils.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Compares bits, because denormals equal zero on a thread that flushes them. False for NaN.
bool IsRoundedNumber(float number) { return (absl::bit_cast<uint32_t>(number) & 0xffff) == 0 && !std::isnan(number); }

bool ContainsRoundedNumbers(const xla::Literal& literal) {
  constexpr int64_t kMaxNumbers = 1024;
  if (literal.element_count() > kMaxNumbers) return false;
  const auto numbers = literal.data<float>();
  return std::all_of(numbers.begin(), numbers.end(), IsRoundedNumber);
}

// Set of the float32 arrays whose elements are all bfloat16 numbers.
class RoundedValues {
 public:
  bool Contains(const HloInstruction* value) {
    const auto found = known_.find(value);
    if (found != known_.end()) return found->second;
    const bool is = value->shape().IsArray() && value->shape().element_type() == xla::F32 && Compute(value);
    known_[value] = is;
    return is;
  }

 private:
  bool Compute(const HloInstruction* value) {
    switch (value->opcode()) {
      case HloOpcode::kConvert: {
        const xla::PrimitiveType from = value->operand(0)->shape().element_type();
        return from == xla::BF16 || from == xla::PRED || from == xla::S8 || from == xla::U8;
      }
      case HloOpcode::kConstant:
        return ContainsRoundedNumbers(value->literal());
      case HloOpcode::kAbs:
      case HloOpcode::kBitcast:
      case HloOpcode::kBroadcast:
      case HloOpcode::kCopy:
      case HloOpcode::kDynamicSlice:
      case HloOpcode::kNegate:
      case HloOpcode::kReshape:
      case HloOpcode::kReverse:
      case HloOpcode::kSlice:
      case HloOpcode::kTranspose:
        return Contains(value->operand(0));
      case HloOpcode::kConcatenate:
      case HloOpcode::kMaximum:
      case HloOpcode::kMinimum:
      case HloOpcode::kPad:
        return Contain(value->operands());
      case HloOpcode::kSelect:
        return Contains(value->operand(1)) && Contains(value->operand(2));
      default:
        return false;
    }
  }

  bool Contain(absl::Span<HloInstruction* const> values) {
    return std::all_of(values.begin(), values.end(), [this](const HloInstruction* value) { return Contains(value); });
  }

  absl::flat_hash_map<const HloInstruction*, bool> known_;
};

bool IsRounding(const HloInstruction* instruction) {
  return instruction->opcode() == HloOpcode::kConvert && instruction->shape().element_type() == xla::BF16 &&
         instruction->operand(0)->shape().element_type() == xla::F32;
}

// The upper 16 bits of each number, as bfloat16.
absl::StatusOr<HloInstruction*> UpperHalves(HloInstruction* numbers) {
  xla::HloComputation* const computation = numbers->parent();
  const auto recast = [computation](HloInstruction* value, xla::PrimitiveType type) {
    return computation->AddInstruction(
        HloInstruction::CreateBitcastConvert(xla::ShapeUtil::ChangeElementType(value->shape(), type), value));
  };
  HloInstruction* const half =
      computation->AddInstruction(HloInstruction::CreateConstant(xla::LiteralUtil::CreateR0<uint32_t>(16)));
  HloInstruction* const bits = recast(numbers, xla::U32);
  HloInstruction* const shifts =
      computation->AddInstruction(HloInstruction::CreateBroadcast(bits->shape(), half, /*broadcast_dimensions=*/{}));
  HloInstruction* const upper = computation->AddInstruction(
      HloInstruction::CreateBinary(bits->shape(), HloOpcode::kShiftRightLogical, bits, shifts));
  return recast(Converted(upper, xla::U16), xla::BF16);
}

absl::Status Omit(HloInstruction* rounding) {
  HloInstruction* const value = rounding->mutable_operand(0);
  const std::vector<HloInstruction*> users = rounding->users();
  for (HloInstruction* user : users) {
    if (user->opcode() != HloOpcode::kConvert || user->shape() != value->shape()) continue;
    HPU_RETURN_IF_ERROR(user->ReplaceAllUsesWith(value));
    HPU_RETURN_IF_ERROR(rounding->parent()->RemoveInstruction(user));
  }
  const bool is_stored = rounding->IsRoot() || rounding->user_count() > 0;
  if (!is_stored) return rounding->parent()->RemoveInstruction(rounding);
  HPU_ASSIGN_OR_RETURN(HloInstruction* const upper, UpperHalves(value));
  HPU_RETURN_IF_ERROR(rounding->ReplaceAllUsesWith(upper));
  return rounding->parent()->RemoveInstruction(rounding);
}

}  // namespace

absl::Status OmitExactRoundings(xla::HloModule* module) {
  RoundedValues rounded;
  std::vector<HloInstruction*> exact;
  // Only inside fusions: between fusions, values have their own memory, which XLA's copies rely on.
  for (xla::HloComputation* computation : module->computations()) {
    if (!computation->IsFusionComputation()) continue;
    for (HloInstruction* instruction : computation->instructions()) {
      if (IsRounding(instruction) && rounded.Contains(instruction->operand(0))) exact.push_back(instruction);
    }
  }
  for (HloInstruction* rounding : exact) HPU_RETURN_IF_ERROR(Omit(rounding));
  return absl::OkStatus();
}

}  // namespace hpu::emulator
