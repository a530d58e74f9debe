// Helpers for passes that replace control flow in HLO.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_CONTROL_FLOW_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_CONTROL_FLOW_H_

#include <vector>

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hpu::gaudi {

// Whether the computation, or one that it calls, has an instruction of this opcode.
bool HasInstruction(const xla::HloComputation& computation, xla::HloOpcode opcode);

// The module's instructions of this opcode.
std::vector<xla::HloInstruction*> InstructionsOf(xla::HloModule* module, xla::HloOpcode opcode);

// Inlines all calls of the module, simplifies tuples, and removes dead instructions.
absl::Status InlineCalls(xla::HloModule* module);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_CONTROL_FLOW_H_
