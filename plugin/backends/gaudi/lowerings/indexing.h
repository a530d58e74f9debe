// Gathers and scatters of rows as nodes of a plan, and the indices that select them.
//
// Rows are arrays {row, rows}: slices along the slower dimension. Kernels neither clamp nor drop indices, so callers
// bring them into range.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_INDEXING_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_INDEXING_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/backends/gaudi/plan/plan_builder.h"
#include "xla/xla_data.pb.h"

// Every function fails as PlanBuilder::AddNode does.
namespace hpu::gaudi {

// Rows indices[i] of x {row, rows}: {row, n} for i32 {n}.
absl::StatusOr<TensorId> GatherRows(PlanBuilder& builder, TensorId x, TensorId indices);
// x {row, rows} with rows indices[i] replaced by rows of `updates` {row, n}. If indices are equal, it is unknown which
// row wins.
absl::StatusOr<TensorId> ReplaceRows(PlanBuilder& builder, TensorId x, TensorId indices, TensorId updates);
// Sums of the rows of `updates` {row, n} with equal segments, i32 {n} below `rows`: {row, rows}.
absl::StatusOr<TensorId> SumRows(PlanBuilder& builder, TensorId updates, TensorId segments, uint64_t rows);
// x[indices[i, r], r] for each i and r: {k, rows} for x {n, rows} and i32 indices {k, rows}.
absl::StatusOr<TensorId> GatherElements(PlanBuilder& builder, TensorId x, TensorId indices);
// Elements indices[i], i32 {k}, of dimension `axis` of x.
absl::StatusOr<TensorId> GatherAlong(PlanBuilder& builder, TensorId x, size_t axis, TensorId indices);

// The elements, of any kernel's type, as a type that gathers and scatters accept. An element wider than 32 bits becomes
// several elements of the fastest dimension.
absl::StatusOr<TensorId> AsMovable(PlanBuilder& builder, TensorId x);
// Inverse of AsMovable for elements of `type`.
absl::StatusOr<TensorId> FromMovable(PlanBuilder& builder, TensorId x, synapse::synDataType type);

// Integers of `type` as i32, clamped to [-2^31, 2^31 - 1]. HLO reads indices of u64 as s64 (HloEvaluator).
absl::StatusOr<TensorId> ToIndex(PlanBuilder& builder, TensorId x, xla::PrimitiveType type);
// Clamps i32 indices to [0, last].
absl::StatusOr<TensorId> ClampIndex(PlanBuilder& builder, TensorId index, int64_t last);
// Mask of the indices in [0, last].
absl::StatusOr<TensorId> IsIndex(PlanBuilder& builder, TensorId index, int64_t last);
// x + number and x * number, for i32.
absl::StatusOr<TensorId> AddNumber(PlanBuilder& builder, TensorId x, int64_t number);
absl::StatusOr<TensorId> MultiplyNumber(PlanBuilder& builder, TensorId x, int64_t number);

// Layout of the array of a gather or scatter as rows, so that windows consist of whole rows. Dimensions that windows
// cover only in part come first, ascending; then the others. Dimensions are HLO's.
struct RowLayout {
  std::vector<int64_t> partial;
  std::vector<int64_t> whole;
  std::vector<int64_t> strides;  // of each partial dimension, in rows
  int64_t rows = 1;              // of the array
  int64_t window_rows = 1;       // of a window

  std::vector<int64_t> order() const;  // partial, then whole
};
// `sizes`: of the array. Unimplemented for 2^31 - 1 rows or more.
absl::StatusOr<RowLayout> RowLayoutOf(absl::Span<const int64_t> sizes, absl::Span<const int64_t> window_sizes);
// x as rows {row, rows}, and the inverse for an array of `sizes`.
absl::StatusOr<TensorId> ToRows(PlanBuilder& builder, TensorId x, const RowLayout& layout);
absl::StatusOr<TensorId> FromRows(PlanBuilder& builder, TensorId x, const RowLayout& layout,
                                  absl::Span<const int64_t> sizes);
// Row numbers of n windows, {window_rows, n}. `first`: the first row of each window, i32 {1, n}.
absl::StatusOr<TensorId> WindowRows(PlanBuilder& builder, TensorId first, const RowLayout& layout,
                                    absl::Span<const int64_t> window_sizes);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_INDEXING_H_
