#include "plugin/backends/gaudi/lowerings/conditional_selection.h"

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/backends/gaudi/lowerings/control_flow.h"
#include "plugin/base/status_macros.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/literal_util.h"
#include "xla/shape_util.h"

namespace hpu::gaudi {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Adds instructions that choose `taken` where the scalar `condition` is true, else `other`. Both have one shape.
HloInstruction* SelectValue(xla::HloComputation* computation, HloInstruction* condition, HloInstruction* taken,
                            HloInstruction* other) {
  const xla::Shape& shape = taken->shape();
  if (shape.IsTuple()) {
    std::vector<HloInstruction*> elements;
    for (int64_t i = 0; i < shape.tuple_shapes_size(); ++i) {
      const auto element = [&](HloInstruction* tuple) {
        return computation->AddInstruction(
            HloInstruction::CreateGetTupleElement(shape.tuple_shapes(static_cast<int>(i)), tuple, i));
      };
      elements.push_back(SelectValue(computation, condition, element(taken), element(other)));
    }
    return computation->AddInstruction(HloInstruction::CreateTuple(elements));
  }
  const xla::Shape mask_shape = xla::ShapeUtil::ChangeElementType(shape, xla::PRED);
  HloInstruction* mask = condition;
  if (shape.dimensions_size() > 0) {
    mask = computation->AddInstruction(HloInstruction::CreateBroadcast(mask_shape, condition, {}));
  }
  return computation->AddInstruction(HloInstruction::CreateTernary(shape, HloOpcode::kSelect, mask, taken, other));
}

// Whether the branch `index` is taken. A boolean takes branch 0 if it is true.
HloInstruction* IsTaken(xla::HloComputation* computation, HloInstruction* selector, int32_t index) {
  if (selector->shape().element_type() == xla::PRED) return selector;
  HloInstruction* number =
      computation->AddInstruction(HloInstruction::CreateConstant(xla::LiteralUtil::CreateR0<int32_t>(index)));
  return computation->AddInstruction(HloInstruction::CreateCompare(xla::ShapeUtil::MakeShape(xla::PRED, {}), selector,
                                                                   number, xla::ComparisonDirection::kEq));
}

absl::Status Select(HloInstruction* conditional) {
  xla::HloComputation* computation = conditional->parent();
  std::vector<HloInstruction*> branches;
  for (int b = 0; b < conditional->branch_count(); ++b) {
    branches.push_back(computation->AddInstruction(HloInstruction::CreateCall(
        conditional->shape(), {conditional->mutable_operand(b + 1)}, conditional->branch_computation(b))));
  }
  // Indices out of range take the last branch.
  HloInstruction* value = branches.back();
  for (int b = static_cast<int>(branches.size()) - 2; b >= 0; --b) {
    value = SelectValue(computation, IsTaken(computation, conditional->mutable_operand(0), b), branches[b], value);
  }
  HPU_RETURN_IF_ERROR(conditional->ReplaceAllUsesWith(value));
  return computation->RemoveInstruction(conditional);
}

bool MayComputeAllBranches(const HloInstruction& conditional) {
  for (const xla::HloComputation* branch : conditional.branch_computations()) {
    if (HasInstruction(*branch, HloOpcode::kWhile) || HasInstruction(*branch, HloOpcode::kConditional)) return false;
  }
  return true;
}

// Replaces conditionals whose branches contain neither loops nor conditionals. Returns whether there were any.
absl::StatusOr<bool> SelectInnerBranches(xla::HloModule* module) {
  std::vector<HloInstruction*> conditionals;
  for (HloInstruction* conditional : InstructionsOf(module, HloOpcode::kConditional)) {
    if (MayComputeAllBranches(*conditional)) conditionals.push_back(conditional);
  }
  for (HloInstruction* conditional : conditionals) HPU_RETURN_IF_ERROR(Select(conditional));
  return !conditionals.empty();
}

// An array of zeros, or a tuple of such arrays.
HloInstruction* Zeros(xla::HloComputation* computation, const xla::Shape& shape) {
  if (shape.IsTuple()) {
    std::vector<HloInstruction*> elements;
    for (const xla::Shape& element : shape.tuple_shapes()) elements.push_back(Zeros(computation, element));
    return computation->AddInstruction(HloInstruction::CreateTuple(elements));
  }
  HloInstruction* zero =
      computation->AddInstruction(HloInstruction::CreateConstant(xla::LiteralUtil::Zero(shape.element_type())));
  return computation->AddInstruction(HloInstruction::CreateBroadcast(shape, zero, {}));
}

// Whether each branch is taken.
std::vector<HloInstruction*> TakenBranches(HloInstruction* conditional) {
  xla::HloComputation* computation = conditional->parent();
  const xla::Shape shape = xla::ShapeUtil::MakeShape(xla::PRED, {});
  std::vector<HloInstruction*> taken;
  HloInstruction* any = nullptr;
  for (int b = 0; b + 1 < conditional->branch_count(); ++b) {
    taken.push_back(IsTaken(computation, conditional->mutable_operand(0), b));
    any = any == nullptr
              ? taken[b]
              : computation->AddInstruction(HloInstruction::CreateBinary(shape, HloOpcode::kOr, any, taken[b]));
  }
  // Indices out of range take the last branch.
  taken.push_back(
      any == nullptr
          ? computation->AddInstruction(HloInstruction::CreateConstant(xla::LiteralUtil::CreateR0<bool>(true)))
          : computation->AddInstruction(HloInstruction::CreateUnary(shape, HloOpcode::kNot, any)));
  return taken;
}

// A loop with one iteration if `taken` is true, else none. Returns the branch's result, or `value`.
HloInstruction* LoopOver(HloInstruction* conditional, int branch, HloInstruction* taken, HloInstruction* value) {
  xla::HloComputation* computation = conditional->parent();
  xla::HloModule* module = computation->parent();
  HloInstruction* initial = computation->AddInstruction(
      HloInstruction::CreateTuple({taken, conditional->mutable_operand(branch + 1), value}));
  const xla::Shape& shape = initial->shape();

  xla::HloComputation::Builder body("branch");
  HloInstruction* state = body.AddInstruction(HloInstruction::CreateParameter(0, shape, "state"));
  HloInstruction* operand = body.AddInstruction(HloInstruction::CreateGetTupleElement(shape.tuple_shapes(1), state, 1));
  HloInstruction* result = body.AddInstruction(
      HloInstruction::CreateCall(value->shape(), {operand}, conditional->branch_computation(branch)));
  HloInstruction* end = body.AddInstruction(HloInstruction::CreateConstant(xla::LiteralUtil::CreateR0<bool>(false)));
  body.AddInstruction(HloInstruction::CreateTuple({end, operand, result}));

  xla::HloComputation::Builder condition("is_taken");
  HloInstruction* argument = condition.AddInstruction(HloInstruction::CreateParameter(0, shape, "state"));
  condition.AddInstruction(HloInstruction::CreateGetTupleElement(taken->shape(), argument, 0));

  HloInstruction* loop = computation->AddInstruction(HloInstruction::CreateWhile(
      shape, module->AddEmbeddedComputation(condition.Build()), module->AddEmbeddedComputation(body.Build()), initial));
  loop->set_metadata(conditional->metadata());
  return computation->AddInstruction(HloInstruction::CreateGetTupleElement(value->shape(), loop, 2));
}

}  // namespace

absl::Status SelectBranches(xla::HloModule* module) {
  while (true) {
    HPU_ASSIGN_OR_RETURN(const bool changed, SelectInnerBranches(module));
    if (!changed) return absl::OkStatus();
    HPU_RETURN_IF_ERROR(InlineCalls(module));
  }
}

absl::Status LoopOverBranches(xla::HloModule* module) {
  const std::vector<HloInstruction*> conditionals = InstructionsOf(module, HloOpcode::kConditional);
  if (conditionals.empty()) return absl::OkStatus();
  for (HloInstruction* conditional : conditionals) {
    const std::vector<HloInstruction*> taken = TakenBranches(conditional);
    HloInstruction* value = Zeros(conditional->parent(), conditional->shape());
    for (size_t b = 0; b < taken.size(); ++b) value = LoopOver(conditional, static_cast<int>(b), taken[b], value);
    HPU_RETURN_IF_ERROR(conditional->ReplaceAllUsesWith(value));
    HPU_RETURN_IF_ERROR(conditional->parent()->RemoveInstruction(conditional));
  }
  return InlineCalls(module);
}

}  // namespace hpu::gaudi
