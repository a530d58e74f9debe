// Lowerings of HLO instructions to nodes, by opcode.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_LOWERINGS_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_LOWERINGS_H_

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "plugin/backends/gaudi/lowerings/lowering.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hpu::gaudi {

// Adds nodes for an instruction whose operands have values, and sets its value. Unimplemented if the generation or the
// library's release lacks the nodes.
using LowerFunction = absl::Status (*)(Lowering& lowering, const xla::HloInstruction& instruction);
using LowerTable = absl::flat_hash_map<xla::HloOpcode, LowerFunction>;

// The lowering of an opcode; null if there is none.
LowerFunction FindLowering(xla::HloOpcode opcode);

// Each of these functions adds the lowerings of one file of this folder.
void AddElementwise(LowerTable* table);
void AddIntegers(LowerTable* table);
void AddConversions(LowerTable* table);
void AddRandom(LowerTable* table);
void AddMovement(LowerTable* table);
void AddProducts(LowerTable* table);
void AddReductions(LowerTable* table);
void AddGathers(LowerTable* table);
void AddScatters(LowerTable* table);
void AddSorts(LowerTable* table);
void AddDynamicSlices(LowerTable* table);
void AddConvolutions(LowerTable* table);
void AddWindows(LowerTable* table);
void AddBatchNormalization(LowerTable* table);
void AddComposites(LowerTable* table);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_LOWERINGS_H_
