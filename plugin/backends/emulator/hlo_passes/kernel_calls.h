// Shared helpers of the passes that replace instructions by kernel calls.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_KERNEL_CALLS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_KERNEL_CALLS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/backends/emulator/kernels/kernel.h"
#include "plugin/backends/emulator/kernels/number_type.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Returns whether a kernel should replace the instruction and its operands in `inner`. Thread safe.
using KernelChoice = std::function<absl::StatusOr<bool>(const xla::HloInstruction& instruction,
                                                        absl::Span<const xla::HloInstruction* const> inner)>;

// The kernels that one program calls, numbered. Not thread safe.
class KernelCalls {
 public:
  // Passes call `choice` if both alternatives are library code. Null: kernels are always preferred.
  explicit KernelCalls(KernelChoice choice = nullptr) : choice_(std::move(choice)) {}

  // The choice's result; true without a choice.
  absl::StatusOr<bool> Prefers(const xla::HloInstruction& instruction,
                               absl::Span<const xla::HloInstruction* const> inner = {}) const;

  // Adds an instruction that calls the kernel, to the computation of its operands. All arrays are dense and row-major;
  // `shape` is a tuple if the kernel returns several. Fails with MakeKernel's error if this machine lacks the kernel.
  absl::StatusOr<xla::HloInstruction*> Add(KernelSpec spec, absl::Span<xla::HloInstruction* const> operands,
                                           xla::Shape shape);

  std::vector<KernelSpec> TakeSpecs() { return std::move(specs_); }

 private:
  const KernelChoice choice_;
  std::vector<KernelSpec> specs_;
};

// Returns an instruction's replacement, of the same shape, or null to keep the instruction.
using Replacement = absl::FunctionRef<absl::StatusOr<xla::HloInstruction*>(xla::HloInstruction*)>;

// Calls `replacement` for each instruction of the program with this opcode.
absl::Status ReplaceAll(xla::HloModule* module, xla::HloOpcode opcode, Replacement replacement);

// Returns the replacement of a call whose frontend attribute says what it computes; receives the attribute's value.
using CallReplacement =
    absl::FunctionRef<absl::StatusOr<xla::HloInstruction*>(xla::HloInstruction*, const std::string&)>;

// Calls `replacement` for each call with this attribute. Afterwards it removes the computations that only replaced
// calls used, so that no later pass finds kernels in dead code.
absl::Status ReplaceMarkedCalls(xla::HloModule* module, const char* attribute, CallReplacement replacement);

// The instruction whose value this one passes on, behind reshapes and conversions of tf2xla that change nothing.
xla::HloInstruction* SourceOf(xla::HloInstruction* instruction);

// The value in another element type.
xla::HloInstruction* Converted(xla::HloInstruction* value, xla::PrimitiveType type);

// Whether the value was converted from bfloat16: its operand is the stored array.
bool IsWidened(const xla::HloInstruction* value);

// The NumberType of an element type, if it has one.
std::optional<NumberType> NumberTypeOf(xla::PrimitiveType type);

// The value of a scalar constant of float32 or bfloat16.
std::optional<float> ScalarOf(xla::HloInstruction* instruction);

// True if it is a constant whose elements all equal `number`; of booleans, 0 is false and 1 true.
bool IsConstantOf(xla::HloInstruction* instruction, int8_t number);

// The root of a computation of two scalars, if it is one instruction of both in order; else null.
const xla::HloInstruction* BinaryRoot(const xla::HloComputation* computation);

// True if BinaryRoot has this opcode.
bool Computes(const xla::HloComputation* computation, xla::HloOpcode opcode);

// True if `shape` is an array with a static shape and at least one element.
bool IsPlainArray(const xla::Shape& shape);

// IsPlainArray, of float32 or bfloat16.
bool IsFloatArray(const xla::Shape& shape);

// IsPlainArray, of float32.
bool IsFloat32Array(const xla::Shape& shape);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_KERNEL_CALLS_H_
