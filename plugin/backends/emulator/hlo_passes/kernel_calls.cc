#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_split.h"
#include "plugin/backends/emulator/kernels/recipe_kernels.h"
#include "plugin/base/status_macros.h"
#include "plugin/program/marked_call.h"
#include "xla/layout_util.h"
#include "xla/literal.h"
#include "xla/service/hlo_dce.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

// Names new instructions after the graph's op, for profiles. New instructions have ids from `first_new` on.
void NameOp(xla::HloInstruction* made, const xla::OpMetadata& op, int first_new) {
  if (made->unique_id() < first_new || !made->metadata().op_name().empty()) return;
  made->set_metadata(op);
  for (xla::HloInstruction* operand : made->mutable_operands()) NameOp(operand, op, first_new);
}

}  // namespace

absl::StatusOr<bool> KernelCalls::Prefers(const xla::HloInstruction& instruction,
                                          absl::Span<const xla::HloInstruction* const> inner) const {
  if (choice_ == nullptr) return true;
  return choice_(instruction, inner);
}

absl::StatusOr<xla::HloInstruction*> KernelCalls::Add(KernelSpec spec, absl::Span<xla::HloInstruction* const> operands,
                                                      xla::Shape shape) {
  size_t number = std::find(specs_.begin(), specs_.end(), spec) - specs_.begin();
  if (number == specs_.size()) {
    HPU_RETURN_IF_ERROR(MakeKernel(spec).status());
    specs_.push_back(std::move(spec));
  }
  std::vector<xla::Shape> operand_shapes;
  for (const xla::HloInstruction* operand : operands) {
    operand_shapes.push_back(operand->shape());
    xla::LayoutUtil::SetToDefaultLayout(&operand_shapes.back());
  }
  xla::LayoutUtil::SetToDefaultLayout(&shape);
  return operands[0]->parent()->AddInstruction(xla::HloInstruction::CreateCustomCall(
      shape, operands, kKernelSymbol, operand_shapes, KernelCallText(number, specs_[number].name),
      xla::CustomCallApiVersion::API_VERSION_STATUS_RETURNING_UNIFIED));
}

absl::Status ReplaceAll(xla::HloModule* module, xla::HloOpcode opcode, Replacement replacement) {
  for (xla::HloComputation* computation : module->MakeNonfusionComputations()) {
    for (xla::HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
      if (instruction->opcode() != opcode) continue;
      const int first_new = module->NewUniqueInstructionId();
      HPU_ASSIGN_OR_RETURN(xla::HloInstruction * other, replacement(instruction));
      if (other == nullptr) continue;
      if (!instruction->metadata().op_name().empty()) NameOp(other, instruction->metadata(), first_new);
      HPU_RETURN_IF_ERROR(computation->ReplaceInstruction(instruction, other));
    }
  }
  return absl::OkStatus();
}

absl::Status ReplaceMarkedCalls(xla::HloModule* module, absl::string_view operation, CallReplacement replacement) {
  HPU_RETURN_IF_ERROR(
      ReplaceAll(module, xla::HloOpcode::kCall, [&](xla::HloInstruction* call) -> absl::StatusOr<xla::HloInstruction*> {
        const auto& attributes = call->frontend_attributes().map();
        const auto found = attributes.find(kOperationAttribute);
        if (found == attributes.end()) return nullptr;
        const std::pair<std::string, std::string> parts = absl::StrSplit(found->second, absl::MaxSplits(' ', 1));
        return parts.first == operation ? replacement(call, parts.second) : nullptr;
      }));
  return xla::HloDCE().Run(module).status();
}

xla::HloInstruction* SourceOf(xla::HloInstruction* instruction) {
  while ((instruction->opcode() == xla::HloOpcode::kReshape || instruction->opcode() == xla::HloOpcode::kConvert) &&
         xla::ShapeUtil::Compatible(instruction->shape(), instruction->operand(0)->shape())) {
    instruction = instruction->mutable_operand(0);
  }
  return instruction;
}

xla::HloInstruction* Converted(xla::HloInstruction* value, xla::PrimitiveType type) {
  return value->parent()->AddInstruction(
      xla::HloInstruction::CreateConvert(xla::ShapeUtil::ChangeElementType(value->shape(), type), value));
}

bool IsWidened(const xla::HloInstruction* value) {
  return value->opcode() == xla::HloOpcode::kConvert && value->operand(0)->shape().element_type() == xla::BF16;
}

std::optional<NumberType> NumberTypeOf(xla::PrimitiveType type) {
  switch (type) {
    case xla::F32:
      return NumberType::kFloat32;
    case xla::S32:
      return NumberType::kInt32;
    case xla::F64:
      return NumberType::kFloat64;
    default:
      return std::nullopt;
  }
}

std::optional<float> ScalarOf(xla::HloInstruction* instruction) {
  const xla::HloInstruction* source = SourceOf(instruction);
  if (source->opcode() != xla::HloOpcode::kConstant || source->shape().rank() != 0) return std::nullopt;
  if (source->shape().element_type() == xla::F32) return source->literal().GetFirstElement<float>();
  if (source->shape().element_type() != xla::BF16) return std::nullopt;
  return static_cast<float>(source->literal().GetFirstElement<xla::bfloat16>());
}

bool IsConstantOf(xla::HloInstruction* instruction, int8_t number) {
  const xla::HloInstruction* source = SourceOf(instruction);
  return source->IsConstant() && source->literal().IsAll(number);
}

const xla::HloInstruction* BinaryRoot(const xla::HloComputation* computation) {
  const xla::HloInstruction* root = computation->root_instruction();
  const bool plain = computation->num_parameters() == 2 && root->operand_count() == 2 &&
                     root->operand(0) == computation->parameter_instruction(0) &&
                     root->operand(1) == computation->parameter_instruction(1);
  return plain ? root : nullptr;
}

bool Computes(const xla::HloComputation* computation, xla::HloOpcode opcode) {
  const xla::HloInstruction* root = BinaryRoot(computation);
  return root != nullptr && root->opcode() == opcode;
}

bool IsPlainArray(const xla::Shape& shape) {
  return shape.IsArray() && shape.is_static() && !xla::ShapeUtil::IsZeroElementArray(shape);
}

bool IsFloatArray(const xla::Shape& shape) {
  return IsPlainArray(shape) && (shape.element_type() == xla::F32 || shape.element_type() == xla::BF16);
}

bool IsFloat32Array(const xla::Shape& shape) { return IsFloatArray(shape) && shape.element_type() == xla::F32; }

}  // namespace hpu::emulator
