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
#include "plugin/backends/emulator/kernels/columns.h"
#include "plugin/backends/emulator/kernels/kernel.h"
#include "plugin/backends/emulator/kernels/number_type.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/shape.h"

namespace hpu::emulator {

// Returns whether a kernel should replace the instruction and its operands in `inner`. Thread safe.
using KernelChoice = std::function<absl::StatusOr<bool>(const xla::HloInstruction& instruction,
                                                        absl::Span<const xla::HloInstruction* const> inner)>;

// The kernels that one program calls, numbered. Not thread safe.
class KernelCalls {
 public:
  // `choice` decides for dense products and ungrouped convolutions, for which XLA's code also calls a library. Null:
  // kernels are always preferred.
  explicit KernelCalls(KernelChoice choice = nullptr) : choice_(std::move(choice)) {}

  // Returns the result of the choice; true without a choice.
  absl::StatusOr<bool> Prefers(const xla::HloInstruction& instruction,
                               absl::Span<const xla::HloInstruction* const> inner = {}) const;

  // Adds a call of the kernel to the computation of its operands. All arrays are dense and row-major; `shape` is a
  // tuple if the kernel returns several arrays. Fails with MakeKernel's error if the kernel cannot be made on this
  // machine.
  absl::StatusOr<xla::HloInstruction*> Add(KernelSpec spec, absl::Span<xla::HloInstruction* const> operands,
                                           xla::Shape shape);

  std::vector<KernelSpec> TakeSpecs() { return std::move(specs_); }

 private:
  const KernelChoice choice_;
  std::vector<KernelSpec> specs_;
};

// Returns an instruction's replacement, of the same shape, or null to keep the instruction.
using Replacement = absl::FunctionRef<absl::StatusOr<xla::HloInstruction*>(xla::HloInstruction*)>;

// Calls `replacement` for each instruction with this opcode outside fusions, and replaces the instruction.
absl::Status ReplaceAll(xla::HloModule* module, xla::HloOpcode opcode, Replacement replacement);

// Returns the replacement of a marked call, or null to keep the call. The second argument holds the attributes of its
// operation.
using CallReplacement =
    absl::FunctionRef<absl::StatusOr<xla::HloInstruction*>(xla::HloInstruction*, const std::string&)>;

// Calls `replacement` for each marked call of this operation (plugin/program/marked_call.h). Then removes the
// computations that only replaced calls used, so that later passes do not add kernels to dead code.
absl::Status ReplaceMarkedCalls(xla::HloModule* module, absl::string_view operation, CallReplacement replacement);

// `value`, converted to the element type `type`.
xla::HloInstruction* Converted(xla::HloInstruction* value, xla::PrimitiveType type);

// The sizes before, in and after the reduced dimensions; nullopt unless the reduced dimensions are adjacent.
std::optional<Columns> ColumnSizes(const xla::Shape& shape, absl::Span<const int64_t> reduced);

// The NumberType of an element type; nullopt if there is none.
std::optional<NumberType> NumberTypeOf(xla::PrimitiveType type);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_KERNEL_CALLS_H_
