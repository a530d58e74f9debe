#include "plugin/backends/gaudi/lowerings/lowering.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/backends/gaudi/lowerings/lowerings.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/backends/gaudi/plan/result_memory.h"
#include "plugin/base/status_macros.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/shape_util.h"

namespace hpu::gaudi {
namespace {

// "add.5 (op model/dense/BiasAdd), f32[4,2]"
std::string Describe(const xla::HloInstruction& instruction) {
  std::string text(instruction.name());
  if (!instruction.metadata().op_name().empty()) absl::StrAppend(&text, " (op ", instruction.metadata().op_name(), ")");
  absl::StrAppend(&text, ", ", xla::ShapeUtil::HumanString(instruction.shape()));
  return text;
}

}  // namespace

absl::StatusOr<TensorType> Lowering::TypeOf(const xla::HloInstruction& instruction) const {
  return TensorTypeOf(instruction.shape(), builder_.generation());
}

absl::StatusOr<TensorId> Lowering::Broadcastable(const xla::HloInstruction* instruction) {
  const auto found = values_.find(instruction);
  if (found == values_.end() || found->second.size() != 1) {
    return absl::InternalError(absl::StrCat("instruction ", instruction->name(), " has no array value"));
  }
  return found->second.front();
}

absl::StatusOr<TensorId> Lowering::Value(const xla::HloInstruction* instruction) {
  HPU_ASSIGN_OR_RETURN(const TensorId value, Broadcastable(instruction));
  return Broadcast(builder_, value, SizesOf(instruction->shape()));
}

void Lowering::Set(const xla::HloInstruction& instruction, TensorId value) { values_[&instruction] = {value}; }

void Lowering::SetBroadcastable(const xla::HloInstruction& instruction, TensorId value) {
  values_[&instruction] = {value};
}

void Lowering::SetTuple(const xla::HloInstruction& instruction, std::vector<TensorId> values) {
  values_[&instruction] = std::move(values);
}

const std::vector<TensorId>& Lowering::TupleValue(const xla::HloInstruction* instruction) const {
  return values_.at(instruction);
}

absl::Status Lowering::LowerInstruction(const xla::HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case xla::HloOpcode::kParameter:
      return absl::OkStatus();
    case xla::HloOpcode::kTuple: {
      std::vector<TensorId> elements;
      for (const xla::HloInstruction* operand : instruction.operands()) {
        if (operand->shape().IsTuple()) return absl::UnimplementedError("tuples of tuples have no nodes");
        // Empty arrays have no tensor.
        if (xla::ShapeUtil::IsZeroElementArray(operand->shape())) {
          elements.push_back(kNoTensor);
          continue;
        }
        HPU_ASSIGN_OR_RETURN(const TensorId element, Broadcastable(operand));
        elements.push_back(element);
      }
      SetTuple(instruction, std::move(elements));
      return absl::OkStatus();
    }
    case xla::HloOpcode::kGetTupleElement:
      SetBroadcastable(instruction, TupleValue(instruction.operand(0))[instruction.tuple_index()]);
      return absl::OkStatus();
    default:
      break;
  }
  if (instruction.shape().IsArray() && xla::ShapeUtil::IsZeroElementArray(instruction.shape())) {
    return absl::OkStatus();
  }
  const LowerFunction lower = FindLowering(instruction.opcode());
  if (lower == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("the Gaudi backend has no nodes for ", xla::HloOpcodeString(instruction.opcode())));
  }
  builder_.set_node_name(instruction.metadata().op_name());
  return lower(*this, instruction);
}

absl::Status Lowering::LowerComputation(const xla::HloComputation& computation) {
  for (const xla::HloInstruction* instruction : computation.MakeInstructionPostOrder()) {
    const absl::Status status = LowerInstruction(*instruction);
    if (!status.ok()) {
      return absl::Status(status.code(), absl::StrCat(Describe(*instruction), ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<GraphPlan> LowerModule(const xla::HloModule& module, const ProgramTable& table,
                                      const PlanTarget& target) {
  Lowering lowering(target);
  const xla::HloComputation& entry = *module.entry_computation();
  for (int64_t i = 0; i < entry.num_parameters(); ++i) {
    const xla::HloInstruction& parameter = *entry.parameter_instruction(i);
    if (xla::ShapeUtil::IsZeroElementArray(parameter.shape())) continue;
    const absl::StatusOr<TensorType> type = lowering.TypeOf(parameter);
    if (!type.ok()) {
      return absl::Status(type.status().code(), absl::StrCat("argument ", i, ": ", type.status().message()));
    }
    lowering.Set(parameter, lowering.builder().AddArgument(static_cast<int32_t>(i), *type));
  }
  HPU_RETURN_IF_ERROR(lowering.LowerComputation(entry));
  const xla::HloInstruction* root = entry.root_instruction();
  std::vector<TensorId> results = lowering.TupleValue(root);
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i] == kNoTensor) continue;
    HPU_ASSIGN_OR_RETURN(results[i], Broadcast(lowering.builder(), results[i],
                                               SizesOf(root->shape().tuple_shapes(static_cast<int>(i)))));
  }
  HPU_RETURN_IF_ERROR(PlaceResults(results, table, &lowering.builder()));
  GraphPlan plan = std::move(*lowering.builder().mutable_plan());
  RemoveDeadNodes(&plan);
  HPU_RETURN_IF_ERROR(OrderAliases(table, &plan));
  return plan;
}

}  // namespace hpu::gaudi
