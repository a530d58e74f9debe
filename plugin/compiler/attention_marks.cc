#include "plugin/compiler/attention_marks.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "plugin/base/status_macros.h"
#include "plugin/program/marked_call.h"
#include "tsl/platform/errors.h"
#include "tsl/platform/statusor.h"
#include "xla/debug_options_flags.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/shape_util.h"
#include "xla/xla_data.pb.h"

namespace hpu {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;
using Group = absl::flat_hash_set<HloInstruction*>;

// Instructions between the products, on the way to the scores.
constexpr int kMaxSteps = 16;

bool IsBatchOfProducts(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kDot && instruction.dot_dimension_numbers().lhs_batch_dimensions_size() > 0;
}

bool IsMove(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kBroadcast:
    case HloOpcode::kConvert:
    case HloOpcode::kCopy:
    case HloOpcode::kReshape:
    case HloOpcode::kTranspose:
      return true;
    default:
      return false;
  }
}

// The first instruction above `value` that is no move. Adds the moves to `group`.
HloInstruction* AboveMoves(HloInstruction* value, Group* group) {
  while (IsMove(*value)) {
    group->insert(value);
    value = value->mutable_operand(0);
  }
  return value;
}

// If `value` is a repeated reduction of the last dimension of `array` by `function`, adds its instructions to `group`.
bool AddReduction(HloInstruction* value, HloOpcode function, const HloInstruction* array, Group* group) {
  HloInstruction* const reduction = AboveMoves(value, group);
  if (reduction->opcode() != HloOpcode::kReduce || reduction->operand_count() != 2) return false;
  const HloInstruction* root = reduction->to_apply()->root_instruction();
  const int64_t last = array->shape().dimensions_size() - 1;
  if (root->opcode() != function || !absl::c_equal(reduction->dimensions(), std::vector<int64_t>{last})) return false;
  group->insert(reduction);
  HloInstruction* reduced = reduction->mutable_operand(0);
  // A type with few bits may be reduced in a wider type.
  if (reduced != array && reduced->opcode() == HloOpcode::kConvert) {
    group->insert(reduced);
    reduced = reduced->mutable_operand(0);
  }
  return reduced == array;
}

// If `probabilities` is the softmax of an array's last dimension, adds its instructions to `group` and returns the
// array.
HloInstruction* AddSoftmax(HloInstruction* probabilities, Group* group) {
  if (probabilities->opcode() != HloOpcode::kDivide) return nullptr;
  HloInstruction* const exponential = probabilities->mutable_operand(0);
  if (exponential->opcode() != HloOpcode::kExp) return nullptr;
  HloInstruction* const difference = exponential->mutable_operand(0);
  if (difference->opcode() != HloOpcode::kSubtract) return nullptr;
  HloInstruction* const logits = difference->mutable_operand(0);
  if (!AddReduction(probabilities->mutable_operand(1), HloOpcode::kAdd, exponential, group)) return nullptr;
  if (!AddReduction(difference->mutable_operand(1), HloOpcode::kMaximum, logits, group)) return nullptr;
  group->insert({probabilities, exponential, difference});
  return logits;
}

bool IsElementwise(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kAdd:
    case HloOpcode::kDivide:
    case HloOpcode::kMultiply:
    case HloOpcode::kSelect:
    case HloOpcode::kSubtract:
      return true;
    default:
      return false;
  }
}

// Searches above `value` for a product of batches whose elements become the elements of `value`. Adds the product and
// the instructions below it to `group`. Returns whether it found one. `without`: instructions below no such product;
// each is searched once.
bool AddScores(HloInstruction* value, int steps, Group* without, Group* group) {
  if (IsBatchOfProducts(*value)) {
    group->insert(value);
    return true;
  }
  const bool keeps_elements = (IsMove(*value) && value->opcode() != HloOpcode::kBroadcast) || IsElementwise(*value);
  if (steps == 0 || !keeps_elements || !without->insert(value).second) return false;
  for (HloInstruction* operand : value->operands()) {
    if (!AddScores(operand, steps - 1, without, group)) continue;
    group->insert(value);
    return true;
  }
  return false;
}

// Whether only instructions of the group use the instructions of the group other than `result`.
bool IsClosed(const Group& group, const HloInstruction* result) {
  return absl::c_all_of(group, [&](HloInstruction* member) {
    return member == result ||
           absl::c_all_of(member->users(), [&](HloInstruction* user) { return group.contains(user); });
  });
}

// The probabilities whose last dimension the product contracts with the values; null if operand `index` of the product
// is something else. Adds the instructions between them to `group`.
HloInstruction* ProbabilitiesOf(HloInstruction* context, int64_t index, Group* group) {
  const xla::DotDimensionNumbers& numbers = context->dot_dimension_numbers();
  const auto& contracted = index == 0 ? numbers.lhs_contracting_dimensions() : numbers.rhs_contracting_dimensions();
  if (contracted.size() != 1) return nullptr;
  HloInstruction* value = context->mutable_operand(index);
  int64_t dimension = contracted[0];
  for (; IsMove(*value); value = value->mutable_operand(0)) {
    const bool keeps_dimensions = xla::ShapeUtil::SameDimensions(value->shape(), value->operand(0)->shape());
    if (value->opcode() == HloOpcode::kTranspose) {
      dimension = value->dimensions(dimension);
    } else if (value->opcode() == HloOpcode::kBroadcast || !keeps_dimensions) {
      return nullptr;
    }
    group->insert(value);
  }
  return dimension == value->shape().dimensions_size() - 1 ? value : nullptr;
}

// The group of a product with values; nullopt if it is no attention.
std::optional<Group> FindAttention(HloInstruction* context) {
  if (!IsBatchOfProducts(*context)) return std::nullopt;
  for (const int64_t index : {0, 1}) {
    Group group{context};
    HloInstruction* const probabilities = ProbabilitiesOf(context, index, &group);
    HloInstruction* const logits = probabilities == nullptr ? nullptr : AddSoftmax(probabilities, &group);
    Group without;
    if (logits != nullptr && AddScores(logits, kMaxSteps, &without, &group) && IsClosed(group, context)) return group;
  }
  return std::nullopt;
}

// Constants that the group reads, and broadcasts of these constants, so that they do not become operands of the call.
void AddConstants(HloComputation* computation, Group* group) {
  for (HloInstruction* member : computation->MakeInstructionPostOrder()) {
    if (!group->contains(member)) continue;
    for (int64_t i = 0; i < member->operand_count(); ++i) {
      const HloInstruction* const operand = member->operand(i);
      if (group->contains(member->mutable_operand(i))) continue;
      const bool is_broadcast =
          operand->opcode() == HloOpcode::kBroadcast && operand->operand(0)->opcode() == HloOpcode::kConstant;
      if (operand->opcode() != HloOpcode::kConstant && !is_broadcast) continue;
      HloInstruction* const own = computation->AddInstruction(operand->Clone());
      if (is_broadcast) {
        HloInstruction* const number = computation->AddInstruction(operand->operand(0)->Clone());
        TF_CHECK_OK(own->ReplaceOperandWith(0, number));
        group->insert(number);
      }
      TF_CHECK_OK(member->ReplaceOperandWith(i, own));
      group->insert(own);
    }
  }
}

// Members in an order in which each follows its operands. The scores come first.
std::vector<HloInstruction*> InOrder(const HloComputation& computation, const Group& group) {
  std::vector<HloInstruction*> order;
  for (HloInstruction* instruction : computation.MakeInstructionPostOrder()) {
    if (group.contains(instruction)) order.push_back(instruction);
  }
  absl::c_stable_partition(order, [](auto* member) { return member->opcode() == HloOpcode::kConstant; });
  const auto constants = absl::c_find_if(order, [](auto* m) { return m->opcode() != HloOpcode::kConstant; });
  const auto scores = std::find_if(constants, order.end(), [](auto* m) { return m->opcode() == HloOpcode::kDot; });
  std::rotate(constants, scores, scores + 1);
  return order;
}

// Moves the group to a marked call, which replaces `context`.
void Outline(HloInstruction* context, Group group) {
  HloComputation* const computation = context->parent();
  const xla::OpMetadata metadata = context->metadata();
  AddConstants(computation, &group);
  HloInstruction* const call =
      computation->parent()->OutlineExpressionFromComputation(InOrder(*computation, group), kAttention, computation);
  xla::FrontendAttributes mark;
  (*mark.mutable_map())[kOperationAttribute] = kAttention;
  call->set_frontend_attributes(mark);
  call->set_metadata(metadata);
}

bool HasExponential(const xla::HloModuleProto& program) {
  return absl::c_any_of(program.computations(), [](const xla::HloComputationProto& computation) {
    return absl::c_any_of(computation.instructions(), [](const xla::HloInstructionProto& instruction) {
      return instruction.opcode() == "exponential";
    });
  });
}

}  // namespace

absl::Status MarkAttention(xla::HloModuleProto* program) {
  if (!HasExponential(*program)) return absl::OkStatus();
  HPU_ASSIGN_OR_RETURN(const xla::HloModuleConfig config,
                       xla::HloModule::CreateModuleConfigFromProto(*program, xla::GetDebugOptionsFromFlags()));
  HPU_ASSIGN_OR_RETURN(const std::unique_ptr<xla::HloModule> module, xla::HloModule::CreateFromProto(*program, config));
  bool is_changed = false;
  for (HloComputation* computation : module->MakeComputationPostOrder()) {
    for (HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
      std::optional<Group> group = FindAttention(instruction);
      if (!group.has_value()) continue;
      Outline(instruction, *std::move(group));
      is_changed = true;
    }
  }
  if (is_changed) *program = module->ToProto();
  return absl::OkStatus();
}

}  // namespace hpu
