// Matrix products of integers.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_INTEGER_DOT_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_INTEGER_DOT_H_

#include "absl/status/status.h"
#include "plugin/backends/gaudi/lowerings/lowering.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hpu::gaudi {

// Lowers a dot whose operands and result are integers of at most 64 bits, modulo 2^bits. The array of all products is a
// tensor of the graph, so the operands must be small. Fails as LowerFunction does.
absl::Status LowerIntegerDot(Lowering& lowering, const xla::HloInstruction& dot);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_INTEGER_DOT_H_
