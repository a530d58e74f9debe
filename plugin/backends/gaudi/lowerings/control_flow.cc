#include "plugin/backends/gaudi/lowerings/control_flow.h"

#include "plugin/base/status_macros.h"
#include "xla/hlo/transforms/simplifiers/hlo_dce.h"
#include "xla/hlo/transforms/simplifiers/tuple_simplifier.h"
#include "xla/service/call_inliner.h"

namespace hpu::gaudi {

bool HasInstruction(const xla::HloComputation& computation, xla::HloOpcode opcode) {
  for (const xla::HloInstruction* instruction : computation.instructions()) {
    if (instruction->opcode() == opcode) return true;
    for (const xla::HloComputation* called : instruction->called_computations()) {
      if (HasInstruction(*called, opcode)) return true;
    }
  }
  return false;
}

std::vector<xla::HloInstruction*> InstructionsOf(xla::HloModule* module, xla::HloOpcode opcode) {
  std::vector<xla::HloInstruction*> found;
  for (xla::HloComputation* computation : module->computations()) {
    for (xla::HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() == opcode) found.push_back(instruction);
    }
  }
  return found;
}

absl::Status InlineCalls(xla::HloModule* module) {
  xla::CallInliner inliner;
  xla::TupleSimplifier simplifier;
  xla::HloDCE dce;
  xla::HloPassInterface* const passes[] = {&inliner, &simplifier, &dce};
  for (xla::HloPassInterface* pass : passes) HPU_RETURN_IF_ERROR(pass->Run(module).status());
  return absl::OkStatus();
}

}  // namespace hpu::gaudi
