#include "plugin/backends/gaudi/lowerings/loop_rotation.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "plugin/backends/gaudi/lowerings/control_flow.h"
#include "plugin/base/status_macros.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/shape_util.h"

namespace hpu::gaudi {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// The first `count` elements of a tuple. `owner`: an HloComputation or its Builder.
template <typename Owner>
std::vector<HloInstruction*> FirstElements(Owner* owner, HloInstruction* tuple, int64_t count) {
  std::vector<HloInstruction*> elements;
  for (int64_t i = 0; i < count; ++i) {
    const xla::Shape& shape = tuple->shape().tuple_shapes(static_cast<int>(i));
    elements.push_back(owner->AddInstruction(HloInstruction::CreateGetTupleElement(shape, tuple, i)));
  }
  return elements;
}

// The elements of a state and the condition's value for it.
template <typename Owner>
HloInstruction* WithPredicate(Owner* owner, HloInstruction* state, xla::HloComputation* condition) {
  std::vector<HloInstruction*> elements = FirstElements(owner, state, state->shape().tuple_shapes_size());
  elements.push_back(
      owner->AddInstruction(HloInstruction::CreateCall(condition->root_instruction()->shape(), {state}, condition)));
  return owner->AddInstruction(HloInstruction::CreateTuple(elements));
}

absl::Status Rotate(HloInstruction* loop) {
  xla::HloComputation* computation = loop->parent();
  xla::HloModule* module = computation->parent();
  xla::HloComputation* condition = loop->while_condition();
  const int64_t count = loop->shape().tuple_shapes_size();
  HloInstruction* initial = WithPredicate(computation, loop->mutable_operand(0), condition);
  const xla::Shape& shape = initial->shape();

  xla::HloComputation::Builder body("rotated_body");
  HloInstruction* state = body.AddInstruction(HloInstruction::CreateParameter(0, shape, "state"));
  HloInstruction* old_state = body.AddInstruction(HloInstruction::CreateTuple(FirstElements(&body, state, count)));
  HloInstruction* next =
      body.AddInstruction(HloInstruction::CreateCall(loop->shape(), {old_state}, loop->while_body()));
  WithPredicate(&body, next, condition);

  xla::HloComputation::Builder predicate("rotated_condition");
  HloInstruction* argument = predicate.AddInstruction(HloInstruction::CreateParameter(0, shape, "state"));
  predicate.AddInstruction(
      HloInstruction::CreateGetTupleElement(condition->root_instruction()->shape(), argument, count));

  HloInstruction* rotated = computation->AddInstruction(HloInstruction::CreateWhile(
      shape, module->AddEmbeddedComputation(predicate.Build()), module->AddEmbeddedComputation(body.Build()), initial));
  rotated->set_metadata(loop->metadata());
  HloInstruction* results =
      computation->AddInstruction(HloInstruction::CreateTuple(FirstElements(computation, rotated, count)));
  HPU_RETURN_IF_ERROR(loop->ReplaceAllUsesWith(results));
  return computation->RemoveInstruction(loop);
}

}  // namespace

absl::Status RotateLoops(xla::HloModule* module) {
  bool changed = false;
  for (HloInstruction* loop : InstructionsOf(module, HloOpcode::kWhile)) {
    if (!loop->shape().IsTuple()) continue;
    HPU_RETURN_IF_ERROR(Rotate(loop));
    changed = true;
  }
  return changed ? InlineCalls(module) : absl::OkStatus();
}

}  // namespace hpu::gaudi
