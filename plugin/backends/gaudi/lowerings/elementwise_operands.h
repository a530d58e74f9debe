// Operands and results of elementwise instructions, in types that kernels compute with.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_ELEMENTWISE_OPERANDS_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_ELEMENTWISE_OPERANDS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/backends/gaudi/lowerings/lowering.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hpu::gaudi {

// Values of all operands, as Lowering::Broadcastable returns them. U16 becomes i32, because no kernel supports U16.
absl::StatusOr<std::vector<TensorId>> ElementwiseOperands(Lowering& lowering, const xla::HloInstruction& instruction);
// Sets the value of an instruction that was computed from ElementwiseOperands. Fails if `value` is an error.
absl::Status SetElementwiseResult(Lowering& lowering, const xla::HloInstruction& instruction,
                                  absl::StatusOr<TensorId> value);

// Values of the operands of an integer instruction. Types of less than 32 bits become i32 with the same values.
absl::StatusOr<std::vector<TensorId>> WordOperands(Lowering& lowering, const xla::HloInstruction& instruction);
// Sets the low bits of `value` (i32, or i64 for types of 64 bits) as the value of an instruction.
absl::Status SetWordResult(Lowering& lowering, const xla::HloInstruction& instruction, absl::StatusOr<TensorId> value);

// Whether kernels read the unsigned elements as signed: SynapseType maps U32 and U64 to signed types.
bool HasHiddenSign(const xla::HloInstruction& instruction);

// Whether the opcode is maximum or minimum.
bool IsExtremum(xla::HloOpcode opcode);
bool IsUnsigned(const xla::HloInstruction& instruction);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_ELEMENTWISE_OPERANDS_H_
