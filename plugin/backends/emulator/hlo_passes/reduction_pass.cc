#include "plugin/backends/emulator/hlo_passes/reduction_pass.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "plugin/backends/emulator/kernels/column_reduction.h"
#include "plugin/hal/status_macros.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using Function = ColumnReduction::Function;

// Below, a call costs as much as it saves.
constexpr int64_t kLeastElements = 8192;
constexpr int64_t kLeastColumns = 8;

std::optional<Columns> ColumnsOf(const xla::Shape& shape, absl::Span<const int64_t> reduced) {
  std::vector<int64_t> order(reduced.begin(), reduced.end());
  std::sort(order.begin(), order.end());
  if (order.empty() || order.back() - order.front() + 1 != static_cast<int64_t>(order.size())) return std::nullopt;
  Columns columns;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    int64_t& size = i < order.front() ? columns.outer : i > order.back() ? columns.columns : columns.rows;
    size *= shape.dimensions(i);
  }
  if (columns.columns < kLeastColumns || xla::ShapeUtil::ElementsIn(shape) < kLeastElements) return std::nullopt;
  return columns;
}

// All elements as rows that a kernel reduces to one, which XLA reduces: alone, it runs one thread over them.
std::optional<Columns> ColumnsOfAll(const xla::Shape& shape) {
  constexpr int64_t kMostColumns = 1024, kLeastRows = 64;
  const int64_t elements = xla::ShapeUtil::ElementsIn(shape);
  int64_t columns = kMostColumns;
  while (elements % columns != 0) columns /= 2;
  if (columns < kLeastColumns || elements / columns < kLeastRows || elements < kLeastElements) return std::nullopt;
  return Columns{1, elements / columns, columns};
}

absl::StatusOr<HloInstruction*> KernelOf(HloInstruction* reduce, KernelCalls* calls) {
  if (reduce->operand_count() != 2 || !IsFloatArray(reduce->shape()) || reduce->shape().element_type() != xla::F32 ||
      !IsFloatArray(reduce->operand(0)->shape())) {
    return nullptr;
  }
  const bool add = Computes(reduce->to_apply(), HloOpcode::kAdd);
  if (!add && !Computes(reduce->to_apply(), HloOpcode::kMaximum)) return nullptr;
  const float initial = add ? 0 : -std::numeric_limits<float>::infinity();
  if (ScalarOf(reduce->mutable_operand(1)) != initial) return nullptr;
  const xla::Shape& shape = reduce->operand(0)->shape();
  const bool all = reduce->shape().rank() == 0;
  const auto columns = all ? ColumnsOfAll(shape) : ColumnsOf(shape, reduce->dimensions());
  if (!columns.has_value()) return nullptr;
  ColumnReduction kernel{add ? Function::kSum : Function::kMax, *columns};
  std::vector<HloInstruction*> operands = {reduce->mutable_operand(0)};
  HloInstruction* source = SourceOf(operands[0]);
  if (add && source->opcode() == HloOpcode::kMultiply && source->user_count() == 1) {
    const bool square = source->operand(0) == source->operand(1);
    kernel.function = square ? Function::kSumOfSquares : Function::kSumOfProducts;
    operands = {source->mutable_operand(0)};
    if (!square) operands.push_back(source->mutable_operand(1));
  }
  if (!all) return calls->Add(kernel.Spec(), operands, reduce->shape());
  HPU_ASSIGN_OR_RETURN(HloInstruction * row,
                       calls->Add(kernel.Spec(), operands, xla::ShapeUtil::MakeShape(xla::F32, {columns->columns})));
  return reduce->parent()->AddInstruction(
      HloInstruction::CreateReduce(reduce->shape(), row, reduce->mutable_operand(1), {0}, reduce->to_apply()));
}

}  // namespace

absl::Status UseReductionKernels(xla::HloModule* module, KernelCalls* calls) {
  return ReplaceAll(module, HloOpcode::kReduce, [calls](HloInstruction* reduce) { return KernelOf(reduce, calls); });
}

}  // namespace hpu::emulator
