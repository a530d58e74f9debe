// Queries about HLO instructions, shared by recognisers and passes.
//
// Functions of this folder read instructions and change nothing. Threads may call them for one module, unless another
// thread changes the module. Descriptions borrow their instructions from the module.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_HLO_INSTRUCTIONS_H_
#define HPU_PLUGIN_BACKENDS_COMMON_HLO_INSTRUCTIONS_H_

#include <cstdint>
#include <optional>

#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/shape.h"

namespace hpu::hlo {

// Follows `instruction` through reshapes and conversions that change nothing, as tf2xla emits them. Returns
// `instruction` itself if there are none.
xla::HloInstruction* SourceOf(xla::HloInstruction* instruction);
const xla::HloInstruction* SourceOf(const xla::HloInstruction* instruction);

// Whether the value was converted from bfloat16: its operand is the stored array.
bool IsWidened(const xla::HloInstruction* value);

// Whether the source of `value` is an iota along this dimension.
bool IsIota(const xla::HloInstruction* value, int64_t dimension);

// The value of a scalar constant of float32 or bfloat16; nullopt for other instructions.
std::optional<float> ScalarOf(const xla::HloInstruction* instruction);

// True for a constant whose elements all equal `number`; for booleans, 0 is false and 1 is true.
bool IsConstantOf(const xla::HloInstruction* instruction, int8_t number);

// The root of `computation` if it is an instruction on the computation's two parameters, in order; else null.
const xla::HloInstruction* BinaryRoot(const xla::HloComputation* computation);

// True if BinaryRoot has this opcode.
bool Computes(const xla::HloComputation* computation, xla::HloOpcode opcode);

// Whether `value` is a constant scalar and the identity of `function`. The identity is 0 for kAdd and for boolean kOr
// and kXor, and 1 for kMultiply and for boolean kAnd. It is the lowest value for kMaximum and the highest for kMinimum;
// for floats, infinities. False for other functions.
bool IsIdentity(xla::HloOpcode function, const xla::HloInstruction* value);

// True if `shape` is an array with a static shape and at least one element.
bool IsPlainArray(const xla::Shape& shape);

// IsPlainArray with elements of float32 or bfloat16.
bool IsFloatArray(const xla::Shape& shape);

// IsPlainArray with elements of float32.
bool IsFloat32Array(const xla::Shape& shape);

}  // namespace hpu::hlo

#endif  // HPU_PLUGIN_BACKENDS_COMMON_HLO_INSTRUCTIONS_H_
