#include "plugin/backends/emulator/hlo_passes/widening_pass.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "plugin/backends/common/hlo/instructions.h"
#include "plugin/backends/common/hlo/pooling.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "plugin/base/status_macros.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

bool IsBfloat16(const HloInstruction* value) {
  return value->shape().IsArray() && value->shape().element_type() == xla::BF16;
}

xla::Shape Float32(const xla::Shape& shape) {
  return shape.element_type() == xla::BF16 ? xla::ShapeUtil::ChangeElementType(shape, xla::F32) : shape;
}

// The operand in float32. The conversion is placed before instructions that only move elements, because other passes
// expect it there.
HloInstruction* Widened(HloInstruction* value) {
  if (!IsBfloat16(value)) return value;
  HloComputation* computation = value->parent();
  switch (value->opcode()) {
    case HloOpcode::kConstant:
      return computation->AddInstruction(HloInstruction::CreateConstant(value->literal().Convert(xla::F32).value()));
    case HloOpcode::kReshape:
    case HloOpcode::kReverse:
    case HloOpcode::kTranspose:
      return computation->AddInstruction(
          value->CloneWithNewOperands(Float32(value->shape()), {Widened(value->mutable_operand(0))}));
    default:
      return Converted(value, xla::F32);
  }
}

// A float32 copy of a scalar computation.
HloComputation* Widened(HloComputation* function) {
  HloComputation::Builder builder(function->name());
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> copies;
  for (const HloInstruction* instruction : function->MakeInstructionPostOrder()) {
    std::vector<HloInstruction*> operands;
    for (const HloInstruction* operand : instruction->operands()) operands.push_back(copies.at(operand));
    copies[instruction] =
        builder.AddInstruction(instruction->CloneWithNewOperands(Float32(instruction->shape()), operands));
  }
  return function->parent()->AddEmbeddedComputation(builder.Build(copies.at(function->root_instruction())));
}

// Whether the instruction accumulates numbers and would round after each step.
bool Accumulates(const HloInstruction* instruction) {
  switch (instruction->opcode()) {
    case HloOpcode::kConvolution:
    case HloOpcode::kDot:
      return true;
    case HloOpcode::kReduce:
      return hlo::Computes(instruction->to_apply(), HloOpcode::kAdd) ||
             hlo::Computes(instruction->to_apply(), HloOpcode::kMultiply);
    case HloOpcode::kReduceWindow:
    case HloOpcode::kScatter:
      return hlo::Computes(instruction->to_apply(), HloOpcode::kAdd);
    case HloOpcode::kSelectAndScatter:
      return (hlo::BinaryRoot(instruction->select()) != nullptr ||
              hlo::MaxSelectionOf(instruction->select()) == hlo::MaxSelection::kNotLess) &&
             hlo::Computes(instruction->scatter(), HloOpcode::kAdd);
    default:
      return false;
  }
}

absl::StatusOr<HloInstruction*> Widen(HloInstruction* sum) {
  if (!IsBfloat16(sum) || !Accumulates(sum)) return nullptr;
  std::vector<HloInstruction*> operands;
  for (HloInstruction* operand : sum->mutable_operands()) operands.push_back(Widened(operand));
  HloInstruction* wide =
      sum->parent()->AddInstruction(sum->CloneWithNewOperands(Float32(sum->shape()), std::move(operands)));
  if (wide->opcode() == HloOpcode::kSelectAndScatter) {
    wide->set_select(Widened(sum->select()));
    wide->set_scatter(Widened(sum->scatter()));
  } else if (wide->has_to_apply()) {
    wide->set_to_apply(Widened(sum->to_apply()));
  }
  return Converted(wide, xla::BF16);
}

// Moves a rounding after the transposition of a product, because other passes replace a product together with its
// transposition.
absl::StatusOr<HloInstruction*> TransposeBeforeRounding(HloInstruction* transpose) {
  HloInstruction* rounded = transpose->mutable_operand(0);
  if (!IsBfloat16(transpose) || rounded->opcode() != HloOpcode::kConvert || rounded->user_count() != 1 ||
      rounded->operand(0)->opcode() != HloOpcode::kDot || rounded->operand(0)->shape().element_type() != xla::F32) {
    return nullptr;
  }
  HloInstruction* wide = transpose->parent()->AddInstruction(
      transpose->CloneWithNewOperands(Float32(transpose->shape()), {rounded->mutable_operand(0)}));
  return Converted(wide, xla::BF16);
}

}  // namespace

absl::Status WidenSums(xla::HloModule* module) {
  for (const HloOpcode opcode : {HloOpcode::kConvolution, HloOpcode::kDot, HloOpcode::kReduce, HloOpcode::kReduceWindow,
                                 HloOpcode::kScatter, HloOpcode::kSelectAndScatter}) {
    HPU_RETURN_IF_ERROR(ReplaceAll(module, opcode, Widen));
  }
  return ReplaceAll(module, HloOpcode::kTranspose, TransposeBeforeRounding);
}

}  // namespace hpu::emulator
