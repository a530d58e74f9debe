#include "plugin/compiler/dynamic_shapes/list_sizes.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "plugin/base/status_macros.h"
#include "plugin/compiler/dynamic_shapes/bounded_arrays.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/hlo/transforms/simplifiers/flatten_call_graph.h"
#include "xla/hlo/transforms/simplifiers/hlo_dce.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

// Dimension `dimension` of buffer `buffer` of the list that is element `list` of a loop's state.
struct UnknownSize {
  int64_t list;
  int64_t buffer;
  int64_t dimension;
};

bool IsZero(const HloInstruction& scalar) {
  return scalar.opcode() == HloOpcode::kConstant && scalar.shape().dimensions_size() == 0 &&
         scalar.literal().IsZero({});
}

bool IsCondition(const HloInstruction& call) {
  return call.IsCustomCall(kLaunchCondition) || call.IsCustomCall(kRequired);
}

// The sizes that tf2xla left open: 0, of an array of zeros.
std::vector<UnknownSize> FindUnknownSizes(const HloInstruction& state) {
  std::vector<UnknownSize> found;
  if (state.opcode() != HloOpcode::kTuple) return found;
  for (int64_t i = 0; i < state.operand_count(); ++i) {
    const HloInstruction& list = *state.operand(i);
    if (list.opcode() != HloOpcode::kTuple) continue;
    for (int64_t j = 0; j < list.operand_count(); ++j) {
      const HloInstruction* array = list.operand(j);
      std::vector<UnknownSize> sizes;
      for (; array->opcode() == HloOpcode::kSetDimensionSize; array = array->operand(0)) {
        if (IsZero(*array->operand(1))) sizes.push_back({i, j, array->dimension()});
      }
      const bool is_zero = array->opcode() == HloOpcode::kBroadcast && IsZero(*array->operand(0));
      if (is_zero) found.insert(found.end(), sizes.begin(), sizes.end());
    }
  }
  return found;
}

HloInstruction* ElementOf(HloInstruction* tuple, int64_t index) {
  if (tuple->opcode() == HloOpcode::kTuple) return tuple->mutable_operand(index);
  return tuple->parent()->AddInstruction(HloInstruction::CreateGetTupleElement(tuple, index));
}

// Removes conditions that the loop's body has too.
absl::Status RemoveConditions(HloComputation* turn) {
  for (HloInstruction* instruction : turn->MakeInstructionPostOrder()) {
    if (IsCondition(*instruction)) {
      HPU_RETURN_IF_ERROR(turn->RemoveInstruction(instruction));
      continue;
    }
    const HloOpcode opcode = instruction->opcode();
    if (opcode != HloOpcode::kWhile && opcode != HloOpcode::kConditional) continue;
    for (HloComputation* called : instruction->called_computations()) HPU_RETURN_IF_ERROR(RemoveConditions(called));
  }
  return absl::OkStatus();
}

// A computation from the state of the loop to the sizes after a turn. Null if a part of the turn has side effects.
absl::StatusOr<HloComputation*> MakeTurn(const HloInstruction& loop, const std::vector<UnknownSize>& unknown) {
  xla::HloModule* const module = loop.GetModule();
  HloComputation* const turn = module->AddEmbeddedComputation(loop.while_body()->Clone("first_turn"));
  std::vector<HloInstruction*> sizes;
  for (const UnknownSize& size : unknown) {
    HloInstruction* const buffer = ElementOf(ElementOf(turn->root_instruction(), size.list), size.buffer);
    sizes.push_back(turn->AddInstruction(
        HloInstruction::CreateGetDimensionSize(xla::ShapeUtil::MakeShape(xla::S32, {}), buffer, size.dimension)));
  }
  turn->set_root_instruction(turn->AddInstruction(HloInstruction::CreateTuple(sizes)),
                             /*accept_different_shape=*/true);
  HPU_RETURN_IF_ERROR(xla::FlattenCallGraph().Run(module).status());
  HPU_RETURN_IF_ERROR(RemoveConditions(turn));
  HPU_RETURN_IF_ERROR(xla::HloDCE::RunOnComputation(turn, false).status());
  if (!turn->HasSideEffect()) return turn;
  HPU_RETURN_IF_ERROR(module->RemoveEmbeddedComputation(turn));
  return nullptr;
}

absl::Status SetSizes(HloInstruction* loop) {
  HloInstruction* const state = loop->mutable_operand(0);
  const std::vector<UnknownSize> unknown = FindUnknownSizes(*state);
  if (unknown.empty()) return absl::OkStatus();
  HPU_ASSIGN_OR_RETURN(HloComputation* const turn, MakeTurn(*loop, unknown));
  if (turn == nullptr) return absl::OkStatus();
  HloComputation* const computation = loop->parent();
  HloInstruction* const sizes =
      computation->AddInstruction(HloInstruction::CreateCall(turn->root_instruction()->shape(), {state}, turn));
  std::map<int64_t, std::vector<HloInstruction*>> lists;
  std::vector<HloInstruction*> elements(state->operands().begin(), state->operands().end());
  for (size_t k = 0; k < unknown.size(); ++k) {
    const auto& [list, buffer, dimension] = unknown[k];
    const auto& operands = state->operand(list)->operands();
    auto& buffers = lists.try_emplace(list, operands.begin(), operands.end()).first->second;
    HloInstruction* const size =
        computation->AddInstruction(HloInstruction::CreateGetTupleElement(sizes, static_cast<int64_t>(k)));
    buffers[buffer] = computation->AddInstruction(
        HloInstruction::CreateSetDimensionSize(buffers[buffer]->shape(), buffers[buffer], size, dimension));
  }
  for (const auto& [list, buffers] : lists) {
    elements[list] = computation->AddInstruction(HloInstruction::CreateTuple(buffers));
  }
  return loop->ReplaceOperandWith(0, computation->AddInstruction(HloInstruction::CreateTuple(elements)));
}

}  // namespace

absl::Status SetFirstListSizes(xla::HloModule* module) {
  for (HloComputation* computation : module->MakeComputationPostOrder()) {
    for (HloInstruction* loop : computation->MakeInstructionPostOrder()) {
      if (loop->opcode() == HloOpcode::kWhile) HPU_RETURN_IF_ERROR(SetSizes(loop));
    }
  }
  return absl::OkStatus();
}

}  // namespace hpu
