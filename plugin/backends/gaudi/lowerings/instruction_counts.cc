#include "plugin/backends/gaudi/lowerings/instruction_counts.h"

#include <algorithm>

namespace hpu::gaudi {

void AddCounts(const std::vector<LoweredInstruction>& instructions, const std::vector<bool>& is_live,
               InstructionCounts* counts) {
  for (const LoweredInstruction& instruction : instructions) {
    OpcodeCounts& opcode = (*counts)[std::string(xla::HloOpcodeString(instruction.opcode))];
    const auto nodes =
        std::count(is_live.begin() + instruction.first_node, is_live.begin() + instruction.end_node, true);
    if (instruction.is_refused) {
      ++opcode.refused;
    } else if (nodes == 0) {
      ++opcode.no_node;
    } else if (nodes == 1) {
      ++opcode.one_node;
    } else {
      ++opcode.several_nodes;
    }
  }
}

}  // namespace hpu::gaudi
