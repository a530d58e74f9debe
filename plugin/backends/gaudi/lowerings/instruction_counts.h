// InstructionCounts: HLO instructions of a program by opcode, and by the number of nodes that they became.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_INSTRUCTION_COUNTS_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_INSTRUCTION_COUNTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "xla/hlo/ir/hlo_opcode.h"

namespace hpu::gaudi {

struct OpcodeCounts {
  int64_t no_node = 0;  // views, constants, equal nodes that another instruction added, and unused instructions
  int64_t one_node = 0;
  int64_t several_nodes = 0;
  int64_t refused = 0;
};

// By opcode ("dot"). Without parameters, tuples, elements of tuples, and instructions that use a refused one.
using InstructionCounts = std::map<std::string, OpcodeCounts>;

// Nodes that the lowering of an instruction added: [first_node, end_node).
struct LoweredInstruction {
  xla::HloOpcode opcode;
  int32_t first_node = 0;
  int32_t end_node = 0;
  bool is_refused = false;
};

// Adds instructions to `counts`. `is_live`: for each node, whether the graph keeps it.
void AddCounts(const std::vector<LoweredInstruction>& instructions, const std::vector<bool>& is_live,
               InstructionCounts* counts);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_INSTRUCTION_COUNTS_H_
