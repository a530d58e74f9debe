#include "plugin/backends/emulator/hlo_passes/extremum_pass.h"

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "plugin/backends/common/hlo/instructions.h"
#include "plugin/backends/common/hlo/reduction.h"
#include "plugin/backends/emulator/kernels/extremum.h"
#include "plugin/base/status_macros.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Below this size, a kernel call costs as much as it saves.
constexpr int64_t kMinExtremumElements = 8192;
constexpr int64_t kMinRow = 16;
constexpr int64_t kMinColumns = 8;

// The kernel for an array of this shape. Nullopt if the reduced dimensions are not adjacent, or if the array, the rows
// or the number of columns are small.
std::optional<Extremum> ExtremumOf(const xla::Shape& shape, absl::Span<const int64_t> reduced) {
  if (!hlo::IsFloatArray(shape) || xla::ShapeUtil::ElementsIn(shape) < kMinExtremumElements) return std::nullopt;
  const std::optional<Columns> sizes = ColumnSizes(shape, reduced);
  if (!sizes.has_value()) return std::nullopt;
  Extremum kernel;
  kernel.bfloat16 = shape.element_type() == xla::BF16;
  kernel.outer = sizes->outer;
  kernel.size = sizes->rows;
  kernel.inner = sizes->columns;
  const bool worth = kernel.inner == 1 ? kernel.size >= kMinRow : kernel.inner >= kMinColumns;
  return worth ? std::optional(kernel) : std::nullopt;
}

absl::StatusOr<HloInstruction*> ValueKernel(HloInstruction* reduce, KernelCalls* calls) {
  const std::optional<hlo::Reduction> found = hlo::DescribeReduction(reduce);
  if (!found.has_value() || !found->starts_at_identity ||
      (found->function != HloOpcode::kMaximum && found->function != HloOpcode::kMinimum)) {
    return nullptr;
  }
  std::optional<Extremum> kernel = ExtremumOf(found->operand->shape(), found->dimensions);
  if (!kernel.has_value()) return nullptr;
  kernel->function = found->function == HloOpcode::kMinimum ? Extremum::Function::kMin : Extremum::Function::kMax;
  return calls->Add(kernel->Spec(), {found->operand}, reduce->shape());
}

// Replaces the positions, if the extrema are not used.
absl::StatusOr<HloInstruction*> PositionKernel(HloInstruction* element, KernelCalls* calls) {
  const HloInstruction* reduce = element->operand(0);
  if (element->tuple_index() != 1 || reduce->opcode() != HloOpcode::kReduce || reduce->user_count() != 1) {
    return nullptr;
  }
  const std::optional<hlo::ArgReduction> found = hlo::DescribeArgReduction(reduce);
  const xla::PrimitiveType type = element->shape().element_type();
  if (!found.has_value() || (type != xla::S32 && type != xla::S64)) return nullptr;
  std::optional<Extremum> kernel = ExtremumOf(found->operand->shape(), {found->dimension});
  if (!kernel.has_value()) return nullptr;
  kernel->function = found->minimum ? Extremum::Function::kArgMin : Extremum::Function::kArgMax;
  kernel->wide_positions = type == xla::S64;
  return calls->Add(kernel->Spec(), {found->operand}, element->shape());
}

}  // namespace

absl::Status UseExtremumKernels(xla::HloModule* module, KernelCalls* calls) {
  HPU_RETURN_IF_ERROR(ReplaceAll(module, HloOpcode::kGetTupleElement,
                                 [calls](HloInstruction* element) { return PositionKernel(element, calls); }));
  return ReplaceAll(module, HloOpcode::kReduce, [calls](HloInstruction* reduce) { return ValueKernel(reduce, calls); });
}

}  // namespace hpu::emulator
