#include "plugin/backends/gaudi/lowerings/lowering.h"

#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/backends/gaudi/lowerings/lowerings.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/backends/gaudi/plan/result_memory.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/status_payloads.h"
#include "plugin/base/version/contact.h"
#include "plugin/program/determinism.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/shape_util.h"

namespace hpu::gaudi {
namespace {

// The op of the first instruction with an op, starting at `instruction` and following `next`; empty if there is none.
template <typename Next>
std::string NearestOp(const xla::HloInstruction& instruction, Next next) {
  std::vector<const xla::HloInstruction*> queue = {&instruction};
  absl::flat_hash_set<const xla::HloInstruction*> seen = {&instruction};
  for (size_t i = 0; i < queue.size(); ++i) {
    if (const std::string& op = queue[i]->metadata().op_name(); !op.empty()) return op;
    for (const xla::HloInstruction* other : next(*queue[i])) {
      if (seen.insert(other).second) queue.push_back(other);
    }
  }
  return "";
}

std::string OpOf(const xla::HloInstruction& instruction) {
  const std::string op = NearestOp(instruction, [](const xla::HloInstruction& at) { return at.users(); });
  return !op.empty() ? op : NearestOp(instruction, [](const xla::HloInstruction& at) { return at.operands(); });
}

absl::Status ErrorOf(const xla::HloInstruction& instruction, const absl::Status& status) {
  return Reworded(status, absl::StrCat(Describe(instruction), ": ", status.message()));
}

bool IsEmpty(const xla::Shape& shape) { return shape.IsArray() && xla::ShapeUtil::IsZeroElementArray(shape); }

absl::Status CheckTypes(const xla::Shape& shape, synapse::Generation generation) {
  if (shape.IsArray()) return IsEmpty(shape) ? absl::OkStatus() : TensorTypeOf(shape, generation).status();
  if (!shape.IsTuple()) return absl::OkStatus();
  for (const xla::Shape& element : shape.tuple_shapes()) HPU_RETURN_IF_ERROR(CheckTypes(element, generation));
  return absl::OkStatus();
}

// Fails unless the generation computes with the types of the result and the operands.
absl::Status CheckTypes(const xla::HloInstruction& instruction, synapse::Generation generation) {
  HPU_RETURN_IF_ERROR(CheckTypes(instruction.shape(), generation));
  for (const xla::HloInstruction* operand : instruction.operands()) {
    HPU_RETURN_IF_ERROR(CheckTypes(operand->shape(), generation));
  }
  return absl::OkStatus();
}

bool OnlyMovesTuples(xla::HloOpcode opcode) {
  return opcode == xla::HloOpcode::kParameter || opcode == xla::HloOpcode::kTuple ||
         opcode == xla::HloOpcode::kGetTupleElement;
}

// A program's instructions that cannot be lowered, and why.
class Refusals {
 public:
  // Keeps the first reason of each op, at most 50 reasons.
  void Add(const xla::HloInstruction& instruction, const absl::Status& status) {
    const std::string op = OpOf(instruction);
    if (!op.empty() && !ops_.insert(op).second) return;
    constexpr size_t kMaxReasons = 50;
    if (reasons_.size() < kMaxReasons) reasons_.emplace_back(ErrorOf(instruction, status).message());
  }

  absl::Status ToStatus() const {
    return reasons_.empty() ? absl::OkStatus() : absl::UnimplementedError(absl::StrJoin(reasons_, "; "));
  }

 private:
  absl::flat_hash_set<std::string> ops_;
  std::vector<std::string> reasons_;
};

}  // namespace

std::string Describe(const xla::HloInstruction& instruction) {
  std::string text(instruction.name());
  if (const std::string op = OpOf(instruction); !op.empty()) absl::StrAppend(&text, " (op {{node ", op, "}})");
  absl::StrAppend(&text, ", ", xla::ShapeUtil::HumanString(instruction.shape()));
  return text;
}

absl::StatusOr<TensorType> Lowering::TypeOf(const xla::HloInstruction& instruction) const {
  return TensorTypeOf(instruction.shape(), builder_.generation());
}

absl::StatusOr<TensorId> Lowering::Broadcastable(const xla::HloInstruction* instruction) {
  const auto found = values_.find(instruction);
  if (found == values_.end() || found->second.size() != 1) {
    return absl::InternalError(
        absl::StrCat("instruction ", instruction->name(), " has no array value; " HPU_REPORT_BUG));
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
        if (operand->shape().IsTuple()) return absl::UnimplementedError("Gaudi does not support nested tuples");
        // Empty arrays have no tensor.
        if (IsEmpty(operand->shape())) {
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
  if (IsEmpty(instruction.shape())) return absl::OkStatus();
  const LowerFunction lower = FindLowering(instruction.opcode());
  if (lower == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("Gaudi has no kernel for ", xla::HloOpcodeString(instruction.opcode())));
  }
  builder_.set_node_name(instruction.metadata().op_name());
  return lower(*this, instruction);
}

absl::Status Lowering::LowerComputation(const xla::HloComputation& computation) {
  for (const xla::HloInstruction* instruction : computation.MakeInstructionPostOrder()) {
    if (const absl::Status status = LowerInstruction(*instruction); !status.ok()) return ErrorOf(*instruction, status);
  }
  return absl::OkStatus();
}

absl::Status Lowering::SetArguments(const xla::HloComputation& entry) {
  absl::Status first_refused;
  for (int i = 0; i < entry.num_parameters(); ++i) {
    const xla::HloInstruction& parameter = *entry.parameter_instruction(i);
    if (IsEmpty(parameter.shape())) continue;
    const absl::StatusOr<TensorType> type = TypeOf(parameter);
    if (type.ok()) {
      Set(parameter, builder_.AddArgument(i, *type));
    } else {
      const absl::Status& status = type.status();
      first_refused.Update(Reworded(status, absl::StrCat("argument ", i, ": ", status.message())));
    }
  }
  return first_refused;
}

bool Lowering::HasOperands(const xla::HloInstruction& instruction) const {
  return absl::c_all_of(instruction.operands(), [this](const xla::HloInstruction* operand) {
    return values_.contains(operand) || IsEmpty(operand->shape());
  });
}

absl::Status Lowering::LowerEntry(const xla::HloComputation& entry) {
  const absl::Status arguments = SetArguments(entry);
  Refusals refusals;
  for (const xla::HloInstruction* instruction : entry.MakeInstructionPostOrder()) {
    const bool has_types = !OnlyMovesTuples(instruction->opcode());
    const auto first_node = static_cast<int32_t>(builder_.plan().nodes.size());
    absl::Status status = has_types ? CheckTypes(*instruction, builder_.generation()) : absl::OkStatus();
    const bool is_reached = !status.ok() || HasOperands(*instruction);
    if (status.ok() && is_reached) status = LowerInstruction(*instruction);
    if (has_types && is_reached) {
      lowered_.push_back({instruction->opcode(), first_node, static_cast<int32_t>(builder_.plan().nodes.size()),
                          absl::IsUnimplemented(status)});
    }
    if (absl::IsUnimplemented(status)) {
      refusals.Add(*instruction, status);
    } else if (!status.ok()) {
      return ErrorOf(*instruction, status);
    }
  }
  HPU_RETURN_IF_ERROR(refusals.ToStatus());
  return arguments;  // errors of instructions that use a refused argument are more precise
}

absl::StatusOr<GraphPlan> LowerModule(const xla::HloModule& module, const ProgramTable& table, const PlanTarget& target,
                                      InstructionCounts* counts) {
  Lowering lowering(target);
  lowering.builder().mutable_plan()->is_deterministic = RequiresDeterminism(module.frontend_attributes());
  const xla::HloComputation& entry = *module.entry_computation();
  if (const absl::Status status = lowering.LowerEntry(entry); !status.ok()) {
    const GraphPlan& plan = lowering.builder().plan();
    if (counts != nullptr) AddCounts(lowering.lowered(), std::vector<bool>(plan.nodes.size(), true), counts);
    return status;
  }
  const xla::HloInstruction* root = entry.root_instruction();
  std::vector<TensorId> results = lowering.TupleValue(root);
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i] == kNoTensor) continue;
    HPU_ASSIGN_OR_RETURN(results[i], Broadcast(lowering.builder(), results[i],
                                               SizesOf(root->shape().tuple_shapes(static_cast<int>(i)))));
  }
  HPU_RETURN_IF_ERROR(PlaceResults(results, table, &lowering.builder()));
  GraphPlan plan = std::move(*lowering.builder().mutable_plan());
  if (counts != nullptr) AddCounts(lowering.lowered(), LiveNodes(plan), counts);
  RemoveDeadNodes(&plan);
  HPU_RETURN_IF_ERROR(OrderAliases(table, &plan));
  return plan;
}

}  // namespace hpu::gaudi
