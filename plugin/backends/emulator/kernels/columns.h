// Partitioning of reductions over rows, which turn arrays [outer, rows, columns] into [outer, columns].
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_COLUMNS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_COLUMNS_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/backends/emulator/threads/compute_pool.h"

namespace hpu::emulator {

struct Columns {
  int64_t outer = 1;
  int64_t rows = 1;
  int64_t columns = 1;

  // InvalidArgument unless `parameters` holds three positive sizes.
  static absl::StatusOr<Columns> Parse(absl::Span<const int64_t> parameters);
};

// One task of a reduction: some columns of some rows of one outer index. Distances are in elements.
struct ColumnPiece {
  int64_t begin;   // offset of the first row's first column in the array
  int64_t stride;  // distance between rows
  int64_t rows;
  int64_t columns;
  int64_t first_column;
  float* partial;  // destination of the piece's partial results: `values` arrays of `columns`
};

// Partition of a reduction into pieces. The partition depends only on the sizes, and pieces are combined in order. So
// results do not depend on the run or the number of threads.
class ColumnPlan {
 public:
  // `values`: number of results per column.
  ColumnPlan(const Columns& sizes, int values);

  // Runs `piece` for every piece on the pool. Then calls `combine` for each piece in order; `first` is true for pieces
  // with the first rows of outer index `outer`.
  void Run(ComputePool& pool, absl::FunctionRef<void(const ColumnPiece&)> piece,
           absl::FunctionRef<void(const ColumnPiece&, int64_t outer, bool first)> combine) const;

  const Columns& sizes() const { return sizes_; }

 private:
  const Columns sizes_;
  const int values_;
  int64_t row_pieces_;
  int64_t column_pieces_;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_COLUMNS_H_
