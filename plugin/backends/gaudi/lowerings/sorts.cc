// Lowerings of sorts, including top-k.
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/backends/common/hlo/sort.h"
#include "plugin/backends/gaudi/lowerings/indexing.h"
#include "plugin/backends/gaudi/lowerings/lowerings.h"
#include "plugin/backends/gaudi/lowerings/scalar_computations.h"
#include "plugin/backends/gaudi/lowerings/sorting.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/base/status_macros.h"

namespace hpu::gaudi {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Maximum number of comparisons of a sort by an arbitrary comparator.
constexpr uint64_t kMaxComparisons = uint64_t{1} << 27;

// HLO's dimensions with the sorted one last.
std::vector<int64_t> ColumnOrder(const HloInstruction& sort) {
  std::vector<int64_t> order;
  for (int64_t d = 0; d < sort.operand(0)->shape().dimensions_size(); ++d) {
    if (d != sort.dimensions(0)) order.push_back(d);
  }
  order.push_back(sort.dimensions(0));
  return order;
}

// An operand as {n, columns}, one column for each sort.
absl::StatusOr<TensorId> ToColumns(Lowering& lowering, const HloInstruction& sort, int64_t operand) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(TensorId x, lowering.Operand(sort, operand));
  HPU_ASSIGN_OR_RETURN(x, HloTranspose(builder, x, ColumnOrder(sort)));
  const uint64_t size = builder.sizes(x)[0];
  return Reshape(builder, x, {size, ElementCount(builder.sizes(x)) / size});
}

// Inverse of ToColumns. The columns may be truncated.
absl::StatusOr<TensorId> FromColumns(PlanBuilder& builder, TensorId x, const HloInstruction& sort) {
  const std::vector<int64_t> order = ColumnOrder(sort);
  Sizes sizes = {builder.sizes(x)[0]};
  std::vector<int64_t> inverse(order.size());
  for (size_t i = order.size(); i-- > 0;) {
    if (i + 1 < order.size()) sizes.push_back(sort.operand(0)->shape().dimensions(order[i]));
    inverse[order[i]] = static_cast<int64_t>(i);
  }
  HPU_ASSIGN_OR_RETURN(x, Reshape(builder, x, sizes));
  return HloTranspose(builder, x, inverse);
}

// Results of the comparator for all pairs: i8 {n, n, columns}. Element (i, j): whether i is less than j.
absl::StatusOr<TensorId> ComparePairs(Lowering& lowering, const HloInstruction& sort,
                                      const std::vector<TensorId>& columns) {
  PlanBuilder& builder = lowering.builder();
  const uint64_t size = builder.sizes(columns.front())[0];
  const uint64_t count = builder.sizes(columns.front())[1];
  std::vector<TensorId> arguments;
  for (const TensorId column : columns) {
    for (const Sizes& sizes : {Sizes{size, 1, count}, Sizes{1, size, count}}) {
      HPU_ASSIGN_OR_RETURN(TensorId x, Reshape(builder, column, sizes));
      HPU_ASSIGN_OR_RETURN(x, Broadcast(builder, x, {size, size, count}));
      HPU_ASSIGN_OR_RETURN(x, Reshape(builder, x, {size * size * count}));
      arguments.push_back(x);
    }
  }
  HPU_ASSIGN_OR_RETURN(const std::vector<TensorId> less, ApplyToElements(lowering, sort, arguments));
  return Reshape(builder, less.front(), {size, size, count});
}

// Positions of the sorted elements, i32 {n, columns}, for any comparator: an element's place is the number of elements
// that come before it.
absl::StatusOr<TensorId> PositionsByComparator(Lowering& lowering, const HloInstruction& sort,
                                               const std::vector<TensorId>& columns) {
  PlanBuilder& builder = lowering.builder();
  const Sizes sizes = builder.sizes(columns.front());
  if (sizes[0] > kMaxComparisons || sizes[0] * sizes[0] * sizes[1] > kMaxComparisons) {
    return absl::UnimplementedError(
        absl::StrCat(sizes[1], " sorts of ", sizes[0],
                     " elements by a comparator other than less or greater compare too many pairs of elements: the "
                     "maximum is 2^27; sort fewer elements"));
  }
  HPU_ASSIGN_OR_RETURN(const TensorId less, ComparePairs(lowering, sort, columns));
  HPU_ASSIGN_OR_RETURN(const TensorId greater, Transpose(builder, less, {1, 0, 2}));
  HPU_ASSIGN_OR_RETURN(const TensorId is_not_greater, Not(builder, greater));
  HPU_ASSIGN_OR_RETURN(const TensorId range, Range(builder, sizes[0]));
  HPU_ASSIGN_OR_RETURN(const TensorId left, Reshape(builder, range, {sizes[0], 1, 1}));
  HPU_ASSIGN_OR_RETURN(const TensorId right, Reshape(builder, range, {1, sizes[0], 1}));
  HPU_ASSIGN_OR_RETURN(const TensorId is_earlier, Compare(builder, "less_fwd", left, right));
  HPU_ASSIGN_OR_RETURN(TensorId precedes, Elementwise(builder, "bitwise_and_fwd", {is_not_greater, is_earlier}));
  HPU_ASSIGN_OR_RETURN(precedes, Elementwise(builder, "bitwise_or_fwd", {precedes, less}));
  HPU_ASSIGN_OR_RETURN(precedes, Cast(builder, precedes, synapse::syn_type_int32));
  synapse::ns_Reduction::Params params = {};
  params.reductionDimension = 0;
  HPU_ASSIGN_OR_RETURN(TensorId place,
                       builder.Add("reduce_sum_fwd_i32", {precedes}, {synapse::syn_type_int32, {1, sizes[0], sizes[1]}},
                                   ParamsBytes(params)));
  HPU_ASSIGN_OR_RETURN(place, Reshape(builder, place, sizes));
  HPU_ASSIGN_OR_RETURN(TensorId column, Range(builder, sizes[1]));
  HPU_ASSIGN_OR_RETURN(column, Reshape(builder, column, {1, sizes[1]}));
  HPU_ASSIGN_OR_RETURN(column, MultiplyNumber(builder, column, static_cast<int64_t>(sizes[0])));
  HPU_ASSIGN_OR_RETURN(place, Elementwise(builder, "add_fwd", {place, column}));
  const uint64_t count = ElementCount(sizes);
  HPU_ASSIGN_OR_RETURN(place, Reshape(builder, place, {count}));
  HPU_ASSIGN_OR_RETURN(TensorId position, Reshape(builder, range, {sizes[0], 1}));
  HPU_ASSIGN_OR_RETURN(position, Broadcast(builder, position, sizes));
  HPU_ASSIGN_OR_RETURN(position, Reshape(builder, position, {1, count}));
  // If the comparator is not an order, some places stay empty.
  HPU_ASSIGN_OR_RETURN(const TensorId zero, IntegerScalar(builder, synapse::syn_type_int32, 0, 2));
  HPU_ASSIGN_OR_RETURN(const TensorId empty, Broadcast(builder, zero, {1, count}));
  HPU_ASSIGN_OR_RETURN(const TensorId positions, ReplaceRows(builder, empty, place, position));
  return Reshape(builder, positions, sizes);
}

absl::Status LowerSort(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  const std::optional<hlo::Sort> sort = hlo::DescribeSort(&instruction);
  std::vector<TensorId> columns;
  for (int64_t i = 0; i < instruction.operand_count(); ++i) {
    HPU_ASSIGN_OR_RETURN(const TensorId column, ToColumns(lowering, instruction, i));
    columns.push_back(column);
  }
  TensorId positions = kNoTensor;
  if (sort.has_value()) {
    HPU_ASSIGN_OR_RETURN(
        const std::vector<KeyWord> words,
        KeyWords(builder, columns.front(), instruction.operand(0)->shape().element_type(), sort->total_order));
    // The readers of the results slice the first `count` elements.
    HPU_ASSIGN_OR_RETURN(positions, SortedPositions(builder, words, sort->descending, sort->count));
  } else {
    HPU_ASSIGN_OR_RETURN(positions, PositionsByComparator(lowering, instruction, columns));
  }
  std::vector<TensorId> results;
  for (int64_t i = 0; i < instruction.operand_count(); ++i) {
    const bool is_position = sort.has_value() && sort->operands[i].is_position;
    TensorId result = positions;
    if (!is_position) {
      HPU_ASSIGN_OR_RETURN(result, GatherElements(builder, columns[i], positions));
    }
    HPU_ASSIGN_OR_RETURN(result, FromColumns(builder, result, instruction));
    results.push_back(result);
  }
  lowering.SetTuple(instruction, std::move(results));
  return absl::OkStatus();
}

}  // namespace

void AddSorts(LowerTable* table) { (*table)[HloOpcode::kSort] = LowerSort; }

}  // namespace hpu::gaudi
