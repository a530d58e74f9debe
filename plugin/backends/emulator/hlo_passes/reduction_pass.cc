#include "plugin/backends/emulator/hlo_passes/reduction_pass.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
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

// The sizes before, of and behind the reduced dimensions, if these lie together.
std::optional<Columns> SizesOf(const xla::Shape& shape, absl::Span<const int64_t> reduced) {
  if (reduced.empty()) return std::nullopt;
  const int64_t first = *absl::c_min_element(reduced), last = *absl::c_max_element(reduced);
  if (last - first + 1 != static_cast<int64_t>(reduced.size())) return std::nullopt;
  Columns sizes;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    (i < first ? sizes.outer : i > last ? sizes.columns : sizes.rows) *= shape.dimensions(i);
  }
  return sizes;
}

// Few long rows, each cut into rows that a kernel reduces to one, which XLA reduces: alone, it runs one thread over all
// elements, and takes those of images one at a time.
std::optional<Columns> CutRows(const Columns& sizes) {
  constexpr int64_t kMostOuter = 64, kMostColumns = 1024, kLeastRows = 64;
  if (sizes.outer > kMostOuter || sizes.rows < kLeastElements) return std::nullopt;
  int64_t columns = kMostColumns;
  while (sizes.rows % columns != 0 || (sizes.rows / columns < kLeastRows && columns > kLeastColumns)) columns /= 2;
  if (columns < kLeastColumns) return std::nullopt;
  return Columns{sizes.outer, sizes.rows / columns, columns};
}

// What the computation of a reduction makes of its elements.
std::optional<Function> FunctionOf(const xla::HloComputation* computation) {
  if (Computes(computation, HloOpcode::kAdd)) return Function::kSum;
  if (Computes(computation, HloOpcode::kMaximum)) return Function::kMax;
  if (Computes(computation, HloOpcode::kMultiply)) return Function::kProduct;
  return std::nullopt;
}

float InitialOf(Function function) {
  if (function == Function::kMax) return -std::numeric_limits<float>::infinity();
  return function == Function::kProduct ? 1 : 0;
}

absl::StatusOr<HloInstruction*> KernelOf(HloInstruction* reduce, KernelCalls* calls) {
  if (reduce->operand_count() != 2 || !IsFloat32Array(reduce->shape()) || !IsFloatArray(reduce->operand(0)->shape())) {
    return nullptr;
  }
  const std::optional<Function> function = FunctionOf(reduce->to_apply());
  if (!function.has_value() || ScalarOf(reduce->mutable_operand(1)) != InitialOf(*function)) return nullptr;
  const xla::Shape& shape = reduce->operand(0)->shape();
  std::optional<Columns> columns = SizesOf(shape, reduce->dimensions());
  if (!columns.has_value() || xla::ShapeUtil::ElementsIn(shape) < kLeastElements) return nullptr;
  const bool of_rows = columns->columns == 1;
  // Maxima of rows have another kernel.
  if (of_rows && function == Function::kMax && columns->outer > 1) return nullptr;
  if (of_rows) columns = CutRows(*columns);
  if (!columns.has_value() || columns->columns < kLeastColumns) return nullptr;
  ColumnReduction kernel{*function, *columns};
  std::vector<HloInstruction*> operands = {reduce->mutable_operand(0)};
  HloInstruction* source = SourceOf(operands[0]);
  if (function == Function::kSum && source->opcode() == HloOpcode::kMultiply && source->user_count() == 1) {
    const bool square = source->operand(0) == source->operand(1);
    kernel.function = square ? Function::kSumOfSquares : Function::kSumOfProducts;
    operands = {source->mutable_operand(0)};
    if (!square) operands.push_back(source->mutable_operand(1));
  }
  if (!of_rows) return calls->Add(kernel.Spec(), operands, reduce->shape());
  HPU_ASSIGN_OR_RETURN(
      HloInstruction * cut,
      calls->Add(kernel.Spec(), operands, xla::ShapeUtil::MakeShape(xla::F32, {columns->outer, columns->columns})));
  HloInstruction* sums = reduce->parent()->AddInstruction(HloInstruction::CreateReduce(
      xla::ShapeUtil::MakeShape(xla::F32, {columns->outer}), cut, reduce->mutable_operand(1), {1}, reduce->to_apply()));
  return reduce->parent()->AddInstruction(HloInstruction::CreateReshape(reduce->shape(), sums));
}

}  // namespace

absl::Status UseReductionKernels(xla::HloModule* module, KernelCalls* calls) {
  return ReplaceAll(module, HloOpcode::kReduce, [calls](HloInstruction* reduce) { return KernelOf(reduce, calls); });
}

}  // namespace hpu::emulator
