#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_split.h"
#include "plugin/backends/emulator/kernels/recipe_kernels.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/xla_compat.h"
#include "plugin/program/marked_call.h"
#include "xla/hlo/transforms/simplifiers/hlo_dce.h"
#include "xla/layout_util.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

// Names new instructions after the graph's op, for profiles. New instructions have ids from `first_new` on.
void NameOp(xla::HloInstruction* made, const xla::OpMetadata& op, int64_t first_new) {
  if (compat::InstructionId(made) < first_new || !made->metadata().op_name().empty()) return;
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
      const int64_t first_new = compat::NextInstructionId(computation);
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

xla::HloInstruction* Converted(xla::HloInstruction* value, xla::PrimitiveType type) {
  return value->parent()->AddInstruction(
      xla::HloInstruction::CreateConvert(xla::ShapeUtil::ChangeElementType(value->shape(), type), value));
}

std::optional<Columns> ColumnSizes(const xla::Shape& shape, absl::Span<const int64_t> reduced) {
  if (reduced.empty()) return std::nullopt;
  const int64_t first = *absl::c_min_element(reduced), last = *absl::c_max_element(reduced);
  if (last - first + 1 != static_cast<int64_t>(reduced.size())) return std::nullopt;
  Columns sizes;
  for (int64_t i = 0; i < shape.dimensions_size(); ++i) {
    (i < first ? sizes.outer : i > last ? sizes.columns : sizes.rows) *= shape.dimensions(i);
  }
  return sizes;
}

std::optional<NumberType> NumberTypeOf(xla::PrimitiveType type) {
  switch (type) {
    case xla::F32:
      return NumberType::kFloat32;
    case xla::S32:
      return NumberType::kInt32;
    case xla::F64:
      return NumberType::kFloat64;
    case xla::S64:
      return NumberType::kInt64;
    default:
      return std::nullopt;
  }
}

}  // namespace hpu::emulator
