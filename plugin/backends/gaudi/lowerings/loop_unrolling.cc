#include "plugin/backends/gaudi/lowerings/loop_unrolling.h"

#include <optional>
#include <vector>

#include "plugin/backends/gaudi/lowerings/control_flow.h"
#include "plugin/backends/gaudi/lowerings/iteration_count.h"
#include "plugin/base/status_macros.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hpu::gaudi {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Loops with more iterations are not simulated to find their number.
constexpr int64_t kMaxSimulatedIterations = 10000;

absl::Status Unroll(HloInstruction* loop, int64_t iterations) {
  xla::HloComputation* computation = loop->parent();
  HloInstruction* state = loop->mutable_operand(0);
  for (int64_t i = 0; i < iterations; ++i) {
    HloInstruction* next =
        computation->AddInstruction(HloInstruction::CreateCall(loop->shape(), {state}, loop->while_body()));
    next->set_metadata(loop->metadata());
    state = next;
  }
  HPU_RETURN_IF_ERROR(loop->ReplaceAllUsesWith(state));
  return computation->RemoveInstruction(loop);
}

// Unrolls loops that hold no other loop.
absl::StatusOr<bool> UnrollInnerLoops(xla::HloModule* module, int64_t max_instructions) {
  std::vector<HloInstruction*> loops;
  for (HloInstruction* loop : InstructionsOf(module, HloOpcode::kWhile)) {
    if (!HasInstruction(*loop->while_body(), HloOpcode::kWhile)) loops.push_back(loop);
  }
  bool changed = false;
  for (HloInstruction* loop : loops) {
    const std::optional<int64_t> iterations = IterationCount(loop, kMaxSimulatedIterations);
    if (!iterations.has_value() || *iterations * loop->while_body()->instruction_count() > max_instructions) continue;
    HPU_RETURN_IF_ERROR(Unroll(loop, *iterations));
    changed = true;
  }
  return changed;
}

}  // namespace

absl::Status UnrollLoops(xla::HloModule* module, int64_t max_instructions) {
  // Conditions then read their state directly, not through tuples of its elements.
  HPU_RETURN_IF_ERROR(InlineCalls(module));
  while (true) {
    HPU_ASSIGN_OR_RETURN(const bool changed, UnrollInnerLoops(module, max_instructions));
    if (!changed) return absl::OkStatus();
    HPU_RETURN_IF_ERROR(InlineCalls(module));
  }
}

}  // namespace hpu::gaudi
