#include "plugin/compiler/dynamic_shapes/size_arithmetic.h"

#include "absl/algorithm/container.h"
#include "plugin/base/status_macros.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/literal_util.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kMaxSizes = 64;  // elements of an array of sizes

bool IsSupported(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kAbs:
    case HloOpcode::kAdd:
    case HloOpcode::kAnd:
    case HloOpcode::kBroadcast:
    case HloOpcode::kClamp:
    case HloOpcode::kCompare:
    case HloOpcode::kConcatenate:
    case HloOpcode::kConstant:
    case HloOpcode::kConvert:
    case HloOpcode::kDivide:
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kDynamicUpdateSlice:
    case HloOpcode::kGather:
    case HloOpcode::kIota:
    case HloOpcode::kMaximum:
    case HloOpcode::kMinimum:
    case HloOpcode::kMultiply:
    case HloOpcode::kNegate:
    case HloOpcode::kNot:
    case HloOpcode::kOr:
    case HloOpcode::kPad:
    case HloOpcode::kPower:
    case HloOpcode::kReduce:
    case HloOpcode::kRemainder:
    case HloOpcode::kReshape:
    case HloOpcode::kReverse:
    case HloOpcode::kSelect:
    case HloOpcode::kSign:
    case HloOpcode::kSlice:
    case HloOpcode::kSubtract:
    case HloOpcode::kTranspose:
      return true;
    default:
      return false;
  }
}

}  // namespace

SizeArithmetic::SizeArithmetic(absl::Span<const HloInstruction* const> values, SizeSources* sources)
    : builder_("sizes"), module_("sizes", xla::HloModuleConfig()) {
  std::vector<HloInstruction*> results;
  for (const HloInstruction* value : values) results.push_back(Add(value, sources));
  builder_.AddInstruction(HloInstruction::CreateTuple(results));
  module_.AddEntryComputation(builder_.Build());
}

bool SizeArithmetic::IsSizes(const xla::Shape& shape) {
  return shape.IsArray() && xla::ShapeUtil::ElementsIn(shape) <= kMaxSizes &&
         (shape.element_type() == xla::PRED || xla::primitive_util::IsIntegralType(shape.element_type()));
}

bool SizeArithmetic::HasSizesOnly() const { return absl::c_all_of(input_shapes_, IsSizes); }

bool SizeArithmetic::Covers(const HloInstruction& instruction) {
  return IsSupported(instruction.opcode()) && IsSizes(instruction.shape()) &&
         absl::c_all_of(instruction.operands(),
                        [](const HloInstruction* operand) { return IsSizes(operand->shape()); });
}

bool SizeArithmetic::HasSizeOperands(const HloInstruction& instruction, SizeSources* sources) {
  const auto [known, is_new] = has_size_operands_.try_emplace(&instruction, false);
  if (!is_new) return known->second;
  const bool has = Covers(instruction) && absl::c_all_of(instruction.operands(), [&](const HloInstruction* operand) {
                     const HloInstruction* const source = sources->SourceOf(operand);
                     return xla::ShapeUtil::IsEffectiveScalar(source->shape()) ||
                            source->opcode() == HloOpcode::kParameter || HasSizeOperands(*source, sources);
                   });
  return has_size_operands_[&instruction] = has;
}

HloInstruction* SizeArithmetic::Add(const HloInstruction* instruction, SizeSources* sources) {
  if (const auto known = copies_.find(instruction); known != copies_.end()) return known->second;
  HloInstruction* copy = nullptr;
  const HloInstruction* const source = sources->SourceOf(instruction);
  if (source != instruction) {
    copy = Add(source, sources);
  } else if (HasSizeOperands(*instruction, sources)) {
    std::vector<HloInstruction*> operands;
    for (const HloInstruction* operand : instruction->operands()) operands.push_back(Add(operand, sources));
    copy = builder_.AddInstruction(instruction->CloneWithNewOperands(instruction->shape(), operands));
    if (copy->opcode() == HloOpcode::kReduce) {
      copy->set_to_apply(module_.AddEmbeddedComputation(instruction->to_apply()->Clone()));
    }
  } else {
    copy = builder_.AddInstruction(HloInstruction::CreateParameter(static_cast<int64_t>(inputs_.size()),
                                                                   instruction->shape(), instruction->name()));
    inputs_.push_back(instruction);
    input_shapes_.push_back(instruction->shape());
  }
  copies_.emplace(instruction, copy);
  return copy;
}

absl::StatusOr<xla::Literal> SizeArithmetic::Evaluate(const std::vector<std::vector<int64_t>>& inputs) const {
  std::vector<xla::Literal> arguments;
  for (size_t i = 0; i < inputs.size(); ++i) {
    HPU_ASSIGN_OR_RETURN(const xla::Literal converted,
                         xla::LiteralUtil::CreateR1<int64_t>(inputs[i]).Convert(input_shapes_[i].element_type()));
    HPU_ASSIGN_OR_RETURN(arguments.emplace_back(), converted.Reshape(input_shapes_[i].dimensions()));
  }
  return xla::HloEvaluator().Evaluate(module_, arguments);
}

}  // namespace hpu
