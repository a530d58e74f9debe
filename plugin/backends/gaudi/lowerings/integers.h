// Lowerings of integer instructions that take several nodes.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_INTEGERS_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_INTEGERS_H_

#include "absl/status/status.h"
#include "plugin/backends/gaudi/lowerings/lowering.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hpu::gaudi {

// Each lowering fails as LowerFunction does.
absl::Status LowerIntegerDivide(Lowering& lowering, const xla::HloInstruction& instruction);
absl::Status LowerIntegerRemainder(Lowering& lowering, const xla::HloInstruction& instruction);
// Modulo 2^bits. For negative exponents the result is 1, -1 or 0, as XLA's CPU compiler defines it.
absl::Status LowerIntegerPower(Lowering& lowering, const xla::HloInstruction& instruction);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_INTEGERS_H_
