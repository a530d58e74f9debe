#include "plugin/backends/common/hlo/instructions.h"

#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/literal.h"
#include "xla/literal_util.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hpu::hlo {

using xla::HloInstruction;
using xla::HloOpcode;

const HloInstruction* SourceOf(const HloInstruction* instruction) {
  while ((instruction->opcode() == HloOpcode::kReshape || instruction->opcode() == HloOpcode::kConvert) &&
         xla::ShapeUtil::Compatible(instruction->shape(), instruction->operand(0)->shape())) {
    instruction = instruction->operand(0);
  }
  return instruction;
}

HloInstruction* SourceOf(HloInstruction* instruction) {
  return const_cast<HloInstruction*>(SourceOf(static_cast<const HloInstruction*>(instruction)));
}

bool IsWidened(const HloInstruction* value) {
  return value->opcode() == HloOpcode::kConvert && value->operand(0)->shape().element_type() == xla::BF16;
}

bool IsIota(const HloInstruction* value, int64_t dimension) {
  const HloInstruction* source = SourceOf(value);
  return source->opcode() == HloOpcode::kIota &&
         xla::Cast<xla::HloIotaInstruction>(source)->iota_dimension() == dimension;
}

std::optional<float> ScalarOf(const HloInstruction* instruction) {
  const HloInstruction* source = SourceOf(instruction);
  if (source->opcode() != HloOpcode::kConstant || source->shape().dimensions_size() != 0) return std::nullopt;
  if (source->shape().element_type() == xla::F32) return source->literal().GetFirstElement<float>();
  if (source->shape().element_type() != xla::BF16) return std::nullopt;
  return static_cast<float>(source->literal().GetFirstElement<xla::bfloat16>());
}

bool IsConstantOf(const HloInstruction* instruction, int8_t number) {
  const HloInstruction* source = SourceOf(instruction);
  return source->IsConstant() && source->literal().IsAll(number);
}

const HloInstruction* BinaryRoot(const xla::HloComputation* computation) {
  const HloInstruction* root = computation->root_instruction();
  const bool plain = computation->num_parameters() == 2 && root->operand_count() == 2 &&
                     root->operand(0) == computation->parameter_instruction(0) &&
                     root->operand(1) == computation->parameter_instruction(1);
  return plain ? root : nullptr;
}

bool Computes(const xla::HloComputation* computation, HloOpcode opcode) {
  const HloInstruction* root = BinaryRoot(computation);
  return root != nullptr && root->opcode() == opcode;
}

bool IsIdentity(HloOpcode function, const HloInstruction* value) {
  const HloInstruction* source = SourceOf(value);
  if (source->opcode() != HloOpcode::kConstant || !xla::ShapeUtil::IsScalar(source->shape())) return false;
  const xla::Literal& literal = source->literal();
  const xla::PrimitiveType type = source->shape().element_type();
  const bool is_bool = type == xla::PRED;
  // Floats of 8 bits lack infinities.
  const bool has_bounds = xla::primitive_util::IsIntegralType(type) || type == xla::F16 || type == xla::BF16 ||
                          type == xla::F32 || type == xla::F64;
  switch (function) {
    case HloOpcode::kAdd:
      return !is_bool && literal.IsAll(0);
    case HloOpcode::kMultiply:
      return literal.IsAll(1);
    case HloOpcode::kAnd:
      return is_bool && literal.IsAll(1);
    case HloOpcode::kOr:
    case HloOpcode::kXor:
      return is_bool && literal.IsAll(0);
    case HloOpcode::kMaximum:
      return is_bool ? literal.IsAll(0) : has_bounds && literal == xla::LiteralUtil::MinValue(type);
    case HloOpcode::kMinimum:
      return is_bool ? literal.IsAll(1) : has_bounds && literal == xla::LiteralUtil::MaxValue(type);
    default:
      return false;
  }
}

bool IsPlainArray(const xla::Shape& shape) {
  return shape.IsArray() && shape.is_static() && !xla::ShapeUtil::IsZeroElementArray(shape);
}

bool IsFloatArray(const xla::Shape& shape) {
  return IsPlainArray(shape) && (shape.element_type() == xla::F32 || shape.element_type() == xla::BF16);
}

bool IsFloat32Array(const xla::Shape& shape) { return IsFloatArray(shape) && shape.element_type() == xla::F32; }

}  // namespace hpu::hlo
