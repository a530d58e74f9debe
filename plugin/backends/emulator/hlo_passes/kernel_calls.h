// What the passes share that replace instructions by calls of kernels.
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

// Returns whether a kernel takes the place of the instruction and of its operands in `inner`. Thread safe.
using KernelChoice = std::function<absl::StatusOr<bool>(const xla::HloInstruction& instruction,
                                                        absl::Span<const xla::HloInstruction* const> inner)>;

// The kernels that one program calls, numbered. Not thread safe.
class KernelCalls {
 public:
  // Passes ask `choice` where both ways are some library's. Null: a kernel always takes the place.
  explicit KernelCalls(KernelChoice choice = nullptr) : choice_(std::move(choice)) {}

  // What the choice returns; true without one.
  absl::StatusOr<bool> Prefers(const xla::HloInstruction& instruction,
                               absl::Span<const xla::HloInstruction* const> inner = {}) const;

  // An instruction in the computation of its operands that calls the kernel. All arrays are dense and row-major;
  // `shape` is a tuple where the kernel makes several. Errors are those of MakeKernel: a kernel that this machine
  // lacks.
  absl::StatusOr<xla::HloInstruction*> Add(KernelSpec spec, absl::Span<xla::HloInstruction* const> operands,
                                           xla::Shape shape);

  std::vector<KernelSpec> TakeSpecs() { return std::move(specs_); }

 private:
  const KernelChoice choice_;
  std::vector<KernelSpec> specs_;
};

// Gives an instruction's replacement, of the same shape, or null to leave it.
using Replacement = absl::FunctionRef<absl::StatusOr<xla::HloInstruction*>(xla::HloInstruction*)>;

// Asks for a replacement of each instruction of the program with this opcode.
absl::Status ReplaceAll(xla::HloModule* module, xla::HloOpcode opcode, Replacement replacement);

// Gives the replacement of a call that says by a frontend attribute what it computes, of which it gets the value.
using CallReplacement =
    absl::FunctionRef<absl::StatusOr<xla::HloInstruction*>(xla::HloInstruction*, const std::string&)>;

// Asks for a replacement of each call with this attribute. What such calls called is gone then: no pass is to find
// kernels in what nobody calls.
absl::Status ReplaceMarkedCalls(xla::HloModule* module, const char* attribute, CallReplacement replacement);

// The instruction whose value this one hands on: tf2xla makes reshapes and conversions that change nothing.
xla::HloInstruction* SourceOf(xla::HloInstruction* instruction);

// The value in another element type.
xla::HloInstruction* Converted(xla::HloInstruction* value, xla::PrimitiveType type);

// Whether the value was converted from bfloat16: its operand is the array as it is stored.
bool IsWidened(const xla::HloInstruction* value);

// What kernels call an element type, if any takes it by that name.
std::optional<NumberType> NumberTypeOf(xla::PrimitiveType type);

// The number that a scalar constant of float32 or bfloat16 holds.
std::optional<float> ScalarOf(xla::HloInstruction* instruction);

// True if it is a constant of nothing but this number; of booleans, 0 is false and 1 true.
bool IsConstantOf(xla::HloInstruction* instruction, int8_t number);

// The root of a computation of two scalars, if it is one instruction of these two in their order; else null.
const xla::HloInstruction* BinaryRoot(const xla::HloComputation* computation);

// True if that root has this opcode.
bool Computes(const xla::HloComputation* computation, xla::HloOpcode opcode);

// True if `shape` is an array with a static shape and at least one element.
bool IsPlainArray(const xla::Shape& shape);

// The same, of float32 or bfloat16.
bool IsFloatArray(const xla::Shape& shape);

// The same, of float32 alone.
bool IsFloat32Array(const xla::Shape& shape);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_KERNEL_CALLS_H_
