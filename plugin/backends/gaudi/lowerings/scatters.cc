// Lowerings of scatters.
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/numeric/bits.h"
#include "absl/status/status.h"
#include "plugin/backends/common/hlo/instructions.h"
#include "plugin/backends/gaudi/lowerings/index_vectors.h"
#include "plugin/backends/gaudi/lowerings/indexing.h"
#include "plugin/backends/gaudi/lowerings/lowerings.h"
#include "plugin/backends/gaudi/lowerings/scalar_computations.h"
#include "plugin/backends/gaudi/lowerings/sorting.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/base/status_macros.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/shape_util.h"
#include "xla/xla_data.pb.h"

namespace hpu::gaudi {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// A scatter of rows: `operand` {row, rows}, `updates` {row, n}, `indices` i32 {n}. Index `rows` is for updates that
// are dropped.
struct RowScatter {
  const xla::HloScatterInstruction* scatter;
  uint64_t rows = 0;
  TensorId operand = kNoTensor;
  TensorId updates = kNoTensor;
  TensorId indices = kNoTensor;
};

// Sizes of the windows in the operand's dimensions.
std::vector<int64_t> WindowSizes(const xla::HloScatterInstruction& scatter) {
  const xla::ScatterDimensionNumbers& numbers = scatter.scatter_dimension_numbers();
  const xla::Shape& updates = scatter.scatter_updates()[0]->shape();
  std::vector<int64_t> sizes;
  int next = 0;
  for (int64_t d = 0; d < scatter.operand(0)->shape().dimensions_size(); ++d) {
    const bool is_inserted = absl::c_linear_search(numbers.inserted_window_dims(), d);
    sizes.push_back(is_inserted ? 1 : updates.dimensions(numbers.update_window_dims(next++)));
  }
  return sizes;
}

// The number of windows.
int64_t WindowCount(const xla::HloScatterInstruction& scatter) {
  const xla::Shape& updates = scatter.scatter_updates()[0]->shape();
  int64_t count = 1;
  for (int64_t d = 0; d < updates.dimensions_size(); ++d) {
    if (!absl::c_linear_search(scatter.scatter_dimension_numbers().update_window_dims(), d)) {
      count *= updates.dimensions(d);
    }
  }
  return count;
}

// The updates as {row, rows of windows}. In HLO's order, the indices' dimensions come first, then the windows'
// dimensions in the order of the layout.
absl::StatusOr<TensorId> UpdateRows(Lowering& lowering, const xla::HloScatterInstruction& scatter,
                                    const RowLayout& layout) {
  PlanBuilder& builder = lowering.builder();
  const xla::ScatterDimensionNumbers& numbers = scatter.scatter_dimension_numbers();
  const HloInstruction* updates = scatter.scatter_updates()[0];
  std::vector<int64_t> window_dimension(scatter.operand(0)->shape().dimensions_size(), -1);
  int next = 0;
  for (size_t d = 0; d < window_dimension.size(); ++d) {
    if (absl::c_linear_search(numbers.inserted_window_dims(), static_cast<int64_t>(d))) continue;
    window_dimension[d] = numbers.update_window_dims(next++);
  }
  std::vector<int64_t> order;
  for (int64_t d = 0; d < updates->shape().dimensions_size(); ++d) {
    if (!absl::c_linear_search(numbers.update_window_dims(), d)) order.push_back(d);
  }
  for (const int64_t d : layout.order()) {
    if (window_dimension[d] >= 0) order.push_back(window_dimension[d]);
  }
  HPU_ASSIGN_OR_RETURN(TensorId x, lowering.Value(updates));
  HPU_ASSIGN_OR_RETURN(x, HloTranspose(builder, x, order));
  const auto rows = static_cast<uint64_t>(WindowCount(scatter) * layout.window_rows);
  return Reshape(builder, x, {ElementCount(builder.sizes(x)) / rows, rows});
}

// Rows that the updates go to. HLO drops windows that are not inside the array.
absl::StatusOr<TensorId> UpdatedRows(Lowering& lowering, const xla::HloScatterInstruction& scatter,
                                     const RowLayout& layout, const std::vector<int64_t>& window_sizes) {
  PlanBuilder& builder = lowering.builder();
  const xla::Shape& shape = scatter.operand(0)->shape();
  const auto& dimensions = scatter.scatter_dimension_numbers().scatter_dims_to_operand_dims();
  const auto windows = static_cast<uint64_t>(WindowCount(scatter));
  HPU_ASSIGN_OR_RETURN(TensorId first, IntegerScalar(builder, synapse::syn_type_int32, 0, 2));
  TensorId is_inside = kNoTensor;
  for (int entry = 0; entry < dimensions.size(); ++entry) {
    const int64_t d = dimensions[entry];
    const int64_t last = shape.dimensions(d) - window_sizes[d];
    HPU_ASSIGN_OR_RETURN(
        const TensorId index,
        IndexEntry(lowering, scatter.scatter_indices(), scatter.scatter_dimension_numbers().index_vector_dim(), entry));
    HPU_ASSIGN_OR_RETURN(TensorId mask, IsIndex(builder, index, last));
    if (is_inside != kNoTensor) {
      HPU_ASSIGN_OR_RETURN(mask, Elementwise(builder, "bitwise_and_fwd", {is_inside, mask}));
    }
    is_inside = mask;
    const auto partial = absl::c_find(layout.partial, d);
    if (partial == layout.partial.end()) continue;
    // Products of indices out of range might overflow.
    HPU_ASSIGN_OR_RETURN(TensorId row, ClampIndex(builder, index, last));
    HPU_ASSIGN_OR_RETURN(row, MultiplyNumber(builder, row, layout.strides[partial - layout.partial.begin()]));
    HPU_ASSIGN_OR_RETURN(first, Elementwise(builder, "add_fwd", {row, first}));
  }
  HPU_ASSIGN_OR_RETURN(TensorId rows, WindowRows(builder, first, layout, window_sizes));
  if (is_inside != kNoTensor) {
    HPU_ASSIGN_OR_RETURN(const TensorId dropped, IntegerScalar(builder, synapse::syn_type_int32, layout.rows, 2));
    HPU_ASSIGN_OR_RETURN(rows, Where(builder, is_inside, rows, dropped));
  }
  const auto window_rows = static_cast<uint64_t>(layout.window_rows);
  HPU_ASSIGN_OR_RETURN(rows, Broadcast(builder, rows, {window_rows, windows}));
  return Reshape(builder, rows, {window_rows * windows});
}

// x with one row more, for dropped updates.
absl::StatusOr<TensorId> WithExtraRow(PlanBuilder& builder, TensorId x) {
  HPU_ASSIGN_OR_RETURN(const TensorId zero, ScalarLike(builder, x, 0));
  HPU_ASSIGN_OR_RETURN(const TensorId row, Broadcast(builder, zero, {builder.sizes(x)[0], 1}));
  return Concatenate(builder, {x, row}, 1);
}

// Rows `begin` to `end`.
absl::StatusOr<TensorId> RowRange(PlanBuilder& builder, TensorId x, uint64_t begin, uint64_t end) {
  return Slice(builder, x, {0, begin}, {builder.sizes(x)[0], end}, {1, 1});
}

absl::StatusOr<TensorId> ScatterReplacing(PlanBuilder& builder, const RowScatter& rows) {
  HPU_ASSIGN_OR_RETURN(const TensorId extended, WithExtraRow(builder, rows.operand));
  HPU_ASSIGN_OR_RETURN(const TensorId value, ReplaceRows(builder, extended, rows.indices, rows.updates));
  return RowRange(builder, value, 0, rows.rows);
}

bool IsZeroArray(const HloInstruction* array) {
  if (array->opcode() == HloOpcode::kBroadcast) array = array->operand(0);
  return hlo::IsConstantOf(array, 0);
}

absl::StatusOr<TensorId> ScatterAdding(PlanBuilder& builder, const RowScatter& rows) {
  const synapse::synDataType type = builder.type(rows.operand);
  // Sums of bfloat16 lose their low bits, so they are float32.
  const synapse::synDataType sum_type = IsFloat(type) ? synapse::syn_type_float : type;
  HPU_ASSIGN_OR_RETURN(const TensorId updates, Cast(builder, rows.updates, sum_type));
  HPU_ASSIGN_OR_RETURN(TensorId sums, SumRows(builder, updates, rows.indices, rows.rows + 1));
  HPU_ASSIGN_OR_RETURN(sums, RowRange(builder, sums, 0, rows.rows));
  if (!IsZeroArray(rows.scatter->operand(0))) {
    HPU_ASSIGN_OR_RETURN(const TensorId operand, Cast(builder, rows.operand, sum_type));
    HPU_ASSIGN_OR_RETURN(sums, Elementwise(builder, "add_fwd", {operand, sums}));
  }
  return Cast(builder, sums, type);
}

// Combines rows a and b, of equal sizes, by the scatter's combiner.
absl::StatusOr<TensorId> CombineRows(Lowering& lowering, const HloInstruction& scatter, TensorId a, TensorId b) {
  PlanBuilder& builder = lowering.builder();
  const Sizes sizes = builder.sizes(a);
  HPU_ASSIGN_OR_RETURN(a, Reshape(builder, a, {ElementCount(sizes)}));
  HPU_ASSIGN_OR_RETURN(b, Reshape(builder, b, {ElementCount(sizes)}));
  HPU_ASSIGN_OR_RETURN(const std::vector<TensorId> combined, ApplyToElements(lowering, scatter, {a, b}));
  return Reshape(builder, combined.front(), sizes);
}

// Sorts the updates by their indices.
absl::Status SortUpdates(PlanBuilder& builder, RowScatter* rows) {
  const uint64_t count = builder.sizes(rows->indices)[0];
  HPU_ASSIGN_OR_RETURN(const TensorId keys, Reshape(builder, rows->indices, {count, 1}));
  HPU_ASSIGN_OR_RETURN(TensorId order, SortedPositions(builder, {{keys, static_cast<int>(absl::bit_width(rows->rows))}},
                                                       /*descending=*/false, count));
  HPU_ASSIGN_OR_RETURN(order, Reshape(builder, order, {count}));
  HPU_ASSIGN_OR_RETURN(rows->updates, GatherRows(builder, rows->updates, order));
  HPU_ASSIGN_OR_RETURN(const TensorId indices, Reshape(builder, rows->indices, {1, count}));
  HPU_ASSIGN_OR_RETURN(rows->indices, GatherRows(builder, indices, order));
  HPU_ASSIGN_OR_RETURN(rows->indices, Reshape(builder, rows->indices, {count}));
  return absl::OkStatus();
}

// Combines updates with equal indices into the last such update, and drops the others. The updates are sorted by index.
// After step 2^k, an update combines up to 2^(k+1) updates that end with it.
absl::Status CombineEqualIndices(Lowering& lowering, RowScatter* rows) {
  PlanBuilder& builder = lowering.builder();
  const uint64_t count = builder.sizes(rows->indices)[0];
  HPU_ASSIGN_OR_RETURN(TensorId indices, Reshape(builder, rows->indices, {1, count}));
  for (uint64_t step = 1; step < count; step *= 2) {
    HPU_ASSIGN_OR_RETURN(const TensorId head, RowRange(builder, rows->updates, 0, step));
    HPU_ASSIGN_OR_RETURN(const TensorId earlier, RowRange(builder, rows->updates, 0, count - step));
    HPU_ASSIGN_OR_RETURN(const TensorId later, RowRange(builder, rows->updates, step, count));
    HPU_ASSIGN_OR_RETURN(const TensorId earlier_index, RowRange(builder, indices, 0, count - step));
    HPU_ASSIGN_OR_RETURN(const TensorId later_index, RowRange(builder, indices, step, count));
    HPU_ASSIGN_OR_RETURN(const TensorId is_equal, Compare(builder, "equal_fwd", earlier_index, later_index));
    HPU_ASSIGN_OR_RETURN(TensorId combined, CombineRows(lowering, *rows->scatter, earlier, later));
    HPU_ASSIGN_OR_RETURN(combined, Where(builder, is_equal, combined, later));
    HPU_ASSIGN_OR_RETURN(rows->updates, Concatenate(builder, {head, combined}, 1));
  }
  if (count > 1) {
    HPU_ASSIGN_OR_RETURN(const TensorId earlier_index, RowRange(builder, indices, 0, count - 1));
    HPU_ASSIGN_OR_RETURN(const TensorId later_index, RowRange(builder, indices, 1, count));
    HPU_ASSIGN_OR_RETURN(const TensorId is_equal, Compare(builder, "equal_fwd", earlier_index, later_index));
    HPU_ASSIGN_OR_RETURN(const TensorId dropped,
                         IntegerScalar(builder, synapse::syn_type_int32, static_cast<int64_t>(rows->rows), 2));
    HPU_ASSIGN_OR_RETURN(const TensorId kept, Where(builder, is_equal, dropped, earlier_index));
    HPU_ASSIGN_OR_RETURN(const TensorId last, RowRange(builder, indices, count - 1, count));
    HPU_ASSIGN_OR_RETURN(indices, Concatenate(builder, {kept, last}, 1));
  }
  HPU_ASSIGN_OR_RETURN(rows->indices, Reshape(builder, indices, {count}));
  return absl::OkStatus();
}

// A scatter with any combiner: kernels combine updates only by addition.
absl::StatusOr<TensorId> ScatterCombining(Lowering& lowering, RowScatter rows) {
  PlanBuilder& builder = lowering.builder();
  if (!rows.scatter->unique_indices()) {
    HPU_RETURN_IF_ERROR(SortUpdates(builder, &rows));
    HPU_RETURN_IF_ERROR(CombineEqualIndices(lowering, &rows));
  }
  HPU_ASSIGN_OR_RETURN(const TensorId extended, WithExtraRow(builder, rows.operand));
  HPU_ASSIGN_OR_RETURN(const TensorId old, GatherRows(builder, extended, rows.indices));
  HPU_ASSIGN_OR_RETURN(rows.updates, CombineRows(lowering, *rows.scatter, old, rows.updates));
  HPU_ASSIGN_OR_RETURN(const TensorId value, ReplaceRows(builder, extended, rows.indices, rows.updates));
  return RowRange(builder, value, 0, rows.rows);
}

absl::StatusOr<TensorId> ScatterRows(Lowering& lowering, const RowScatter& rows) {
  PlanBuilder& builder = lowering.builder();
  const xla::HloComputation& combiner = *rows.scatter->to_apply();
  if (combiner.root_instruction() == combiner.parameter_instruction(1)) return ScatterReplacing(builder, rows);
  const synapse::synDataType type = builder.type(rows.operand);
  // Sums of integers do not depend on the order. Release 1.5 cannot fix the order of sums of floats.
  const bool has_order =
      !IsFloat(type) || !builder.plan().is_deterministic || builder.profile() != synapse::Profile::k1_5;
  const bool has_sums = has_order && (IsFloat(type) || builder.Has("unsorted_segment_sum_fwd", type));
  if (hlo::Computes(&combiner, HloOpcode::kAdd) && has_sums) return ScatterAdding(builder, rows);
  return ScatterCombining(lowering, rows);
}

absl::Status LowerScatter(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  const auto& scatter = *xla::Cast<xla::HloScatterInstruction>(&instruction);
  if (scatter.scatter_operand_count() != 1) {
    return absl::UnimplementedError("Gaudi has no kernel for a scatter of several arrays");
  }
  const xla::HloComputation& combiner = *scatter.to_apply();
  if (xla::ShapeUtil::IsZeroElementArray(scatter.scatter_updates()[0]->shape()) ||
      combiner.root_instruction() == combiner.parameter_instruction(0)) {
    HPU_ASSIGN_OR_RETURN(const TensorId operand, lowering.Broadcastable(scatter.operand(0)));
    lowering.SetBroadcastable(instruction, operand);
    return absl::OkStatus();
  }
  const auto& sizes = scatter.operand(0)->shape().dimensions();
  const std::vector<int64_t> window_sizes = WindowSizes(scatter);
  HPU_ASSIGN_OR_RETURN(const RowLayout layout, RowLayoutOf(sizes, window_sizes));
  RowScatter rows{&scatter};
  rows.rows = static_cast<uint64_t>(layout.rows);
  HPU_ASSIGN_OR_RETURN(rows.operand, lowering.Value(scatter.operand(0)));
  HPU_ASSIGN_OR_RETURN(rows.operand, ToRows(builder, rows.operand, layout));
  HPU_ASSIGN_OR_RETURN(rows.updates, UpdateRows(lowering, scatter, layout));
  HPU_ASSIGN_OR_RETURN(rows.indices, UpdatedRows(lowering, scatter, layout, window_sizes));
  HPU_ASSIGN_OR_RETURN(TensorId value, ScatterRows(lowering, rows));
  HPU_ASSIGN_OR_RETURN(value, FromRows(builder, value, layout, sizes));
  lowering.Set(instruction, value);
  return absl::OkStatus();
}

}  // namespace

void AddScatters(LowerTable* table) { (*table)[HloOpcode::kScatter] = LowerScatter; }

}  // namespace hpu::gaudi
