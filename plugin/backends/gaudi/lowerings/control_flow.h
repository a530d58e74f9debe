// Look-ups of control flow in HLO.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_CONTROL_FLOW_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_CONTROL_FLOW_H_

#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hpu::gaudi {

// Whether the computation, or one that it calls, has an instruction of this opcode.
bool HasInstruction(const xla::HloComputation& computation, xla::HloOpcode opcode);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_CONTROL_FLOW_H_
