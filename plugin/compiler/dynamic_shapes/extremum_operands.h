// Operands of maxima and minima over dynamic dimensions.
#ifndef HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_EXTREMUM_OPERANDS_H_
#define HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_EXTREMUM_OPERANDS_H_

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu {

using Instructions = absl::flat_hash_set<const xla::HloInstruction*>;

// All selects of a module.
Instructions FindSelects(const xla::HloModule& module);

// XLA's padder gives a maximum a masked copy of its operand. Gradients of a maximum compare the maximum with the
// operand itself; if both are computed apart, their roundings may differ, and no element equals the maximum. Replaces
// all other uses of the operand by the masked copy. Elements past the size may have any value, so no result changes.
// `selects` are those of the program before the padder ran, which mask no padding.
absl::Status ShareExtremumOperands(xla::HloModule* module, const Instructions& selects);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_EXTREMUM_OPERANDS_H_
