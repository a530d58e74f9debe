#include "plugin/backends/emulator/hlo_passes/reduction_pass.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "plugin/backends/common/hlo/instructions.h"
#include "plugin/backends/common/hlo/reduction.h"
#include "plugin/backends/emulator/kernels/column_reduction.h"
#include "plugin/base/status_macros.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Below this size, a kernel call costs as much as it saves.
constexpr int64_t kMinReductionElements = 8192;
constexpr int64_t kMinReducedColumns = 8;

// Number of adjacent rows that the kernel treats as one long row if there are few columns; 0 if no number fits. The
// kernel reduces the array to one long row, and XLA reduces the long row to the columns. XLA alone would use one
// thread, and would add an image's elements one at a time.
int64_t MergedRows(const Columns& sizes) {
  constexpr int64_t kMaxOuter = 64, kMaxColumns = 128, kMinRows = 64, kLanes = 16;
  // XLA's code is fast for many rows.
  if (sizes.columns == 1 && sizes.outer > kMaxOuter) return 0;
  if (sizes.rows * sizes.columns < kMinReductionElements) return 0;
  const auto greatest = [&](int64_t multiple) -> int64_t {
    for (int64_t together = kMaxColumns / sizes.columns; together * sizes.columns >= kMinReducedColumns; --together) {
      const bool cuts = sizes.rows % together == 0 && sizes.rows / together >= kMinRows;
      if (cuts && together * sizes.columns % multiple == 0) return together;
    }
    return 0;
  };
  const int64_t of_whole_registers = greatest(kLanes);
  return of_whole_registers > 0 ? of_whole_registers : greatest(1);
}

// The kernel's function that the reduction computes, if there is one.
std::optional<ColumnReduction::Function> ReductionFunctionOf(const hlo::Reduction& found) {
  const bool of_bools = found.operand->shape().element_type() == xla::PRED;
  if (found.function == (of_bools ? HloOpcode::kOr : HloOpcode::kMaximum)) return ColumnReduction::Function::kMax;
  if (found.function == (of_bools ? HloOpcode::kAnd : HloOpcode::kMultiply)) return ColumnReduction::Function::kProduct;
  if (found.function == HloOpcode::kAdd && !of_bools) return ColumnReduction::Function::kSum;
  return std::nullopt;
}

// The kernel's operands. Operands of a sum of products are the factors. Widened operands are replaced by their bfloat16
// arrays if no array has another user.
std::vector<HloInstruction*> OperandsFor(HloInstruction* reduce, ColumnReduction* kernel) {
  std::vector<HloInstruction*> operands = {reduce->mutable_operand(0)};
  if (operands[0]->shape().element_type() == xla::PRED) {
    kernel->element = ColumnReduction::Element::kBool;
    return operands;
  }
  HloInstruction* source = hlo::SourceOf(operands[0]);
  if (kernel->function == ColumnReduction::Function::kSum && source->opcode() == HloOpcode::kMultiply &&
      source->user_count() == 1) {
    const bool square = source->operand(0) == source->operand(1);
    kernel->function = square ? ColumnReduction::Function::kSumOfSquares : ColumnReduction::Function::kSumOfProducts;
    operands = {source->mutable_operand(0)};
    if (!square) operands.push_back(source->mutable_operand(1));
  }
  // Other users of the bfloat16 array usually convert it too; then the float32 array is in memory anyway.
  const auto is_narrow = [](const HloInstruction* operand) {
    return hlo::IsWidened(operand) && operand->operand(0)->user_count() == 1;
  };
  if (absl::c_all_of(operands, is_narrow)) {
    kernel->element = ColumnReduction::Element::kBFloat16;
    for (HloInstruction*& operand : operands) operand = operand->mutable_operand(0);
  }
  return operands;
}

absl::StatusOr<HloInstruction*> ReductionKernel(HloInstruction* reduce, KernelCalls* calls) {
  const std::optional<hlo::Reduction> found = hlo::DescribeReduction(reduce);
  if (!found.has_value() || !found->starts_at_identity) return nullptr;
  const xla::Shape& shape = found->operand->shape();
  const xla::PrimitiveType type = shape.element_type();
  if ((type != xla::F32 && type != xla::PRED) || !hlo::IsPlainArray(shape)) return nullptr;
  if (xla::ShapeUtil::ElementsIn(shape) < kMinReductionElements) return nullptr;
  const std::optional<ColumnReduction::Function> function = ReductionFunctionOf(*found);
  if (!function.has_value()) return nullptr;
  const std::optional<Columns> sizes = ColumnSizes(shape, found->dimensions);
  if (!sizes.has_value()) return nullptr;
  const int64_t together = sizes->columns < kMinReducedColumns ? MergedRows(*sizes) : 1;
  if (together == 0) return nullptr;

  ColumnReduction kernel{*function, {sizes->outer, sizes->rows / together, sizes->columns * together}};
  const std::vector<HloInstruction*> operands = OperandsFor(reduce, &kernel);
  xla::Shape made = xla::ShapeUtil::ChangeElementType(reduce->shape(), xla::F32);
  if (together > 1) {
    std::vector<int64_t> parts = {sizes->outer, together};
    if (sizes->columns > 1) parts.push_back(sizes->columns);
    made = xla::ShapeUtil::MakeShape(xla::F32, parts);
  }
  HPU_ASSIGN_OR_RETURN(HloInstruction * value, calls->Add(kernel.Spec(), operands, made));
  if (type == xla::PRED) value = Converted(value, xla::PRED);
  if (together == 1) return value;
  xla::HloComputation* computation = reduce->parent();
  value = computation->AddInstruction(HloInstruction::CreateReduce(
      xla::ShapeUtil::DeleteDimension(1, value->shape()), value, reduce->mutable_operand(1), {1}, reduce->to_apply()));
  return computation->AddInstruction(HloInstruction::CreateReshape(reduce->shape(), value));
}

}  // namespace

absl::Status UseReductionKernels(xla::HloModule* module, KernelCalls* calls) {
  return ReplaceAll(module, HloOpcode::kReduce,
                    [calls](HloInstruction* reduce) { return ReductionKernel(reduce, calls); });
}

}  // namespace hpu::emulator
