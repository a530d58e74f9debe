#include "plugin/backends/gaudi/lowerings/control_flow.h"

#include "xla/hlo/ir/hlo_instruction.h"

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

}  // namespace hpu::gaudi
