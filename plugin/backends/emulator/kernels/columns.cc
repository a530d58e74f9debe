#include "plugin/backends/emulator/kernels/columns.h"

#include <algorithm>

#include "plugin/backends/emulator/kernels/parallel.h"

namespace hpu::emulator {
namespace {

// Maximum number of columns of a piece: the partial results stay in the first-level cache while the rows are read.
constexpr int64_t kMaxColumns = 2048;
// Approximate number of elements of a piece: enough work for a thread, and few enough pieces to combine.
constexpr int64_t kElements = 32 << 10;
constexpr int64_t kMaxRowPieces = 32;

int64_t CeilOfRatio(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

absl::StatusOr<Columns> Columns::Parse(absl::Span<const int64_t> parameters) {
  if (parameters.size() != 3 || *std::min_element(parameters.begin(), parameters.end()) <= 0) {
    return absl::InvalidArgumentError("expected 3 sizes, each at least 1: outer, rows and columns");
  }
  return Columns{parameters[0], parameters[1], parameters[2]};
}

ColumnPlan::ColumnPlan(const Columns& sizes, int values)
    : sizes_(sizes), values_(values), column_pieces_(CeilOfRatio(sizes.columns, kMaxColumns)) {
  const int64_t wanted = CeilOfRatio(sizes.rows * std::min(sizes.columns, kMaxColumns), kElements);
  row_pieces_ = std::clamp<int64_t>(wanted, 1, std::min(sizes.rows, kMaxRowPieces));
}

void ColumnPlan::Run(ComputePool& pool, absl::FunctionRef<void(const ColumnPiece&)> piece,
                     absl::FunctionRef<void(const ColumnPiece&, int64_t, bool)> combine) const {
  const int64_t per_outer = row_pieces_ * column_pieces_;
  // Kept per thread, so that not every launch allocates.
  thread_local std::vector<float> partials;
  const int64_t per_row_piece = sizes_.columns * values_;
  if (static_cast<int64_t>(partials.size()) < sizes_.outer * row_pieces_ * per_row_piece) {
    partials.resize(sizes_.outer * row_pieces_ * per_row_piece);
  }
  float* const base = partials.data();
  const auto make = [&](int64_t number) {
    const int64_t outer = number / per_outer, row_piece = number % per_outer / column_pieces_;
    const int64_t first_column = number % column_pieces_ * kMaxColumns;
    const int64_t row = sizes_.rows * row_piece / row_pieces_, end = sizes_.rows * (row_piece + 1) / row_pieces_;
    ColumnPiece made;
    made.begin = (outer * sizes_.rows + row) * sizes_.columns + first_column;
    made.stride = sizes_.columns;
    made.rows = end - row;
    made.columns = std::min(kMaxColumns, sizes_.columns - first_column);
    made.first_column = first_column;
    made.partial = base + (outer * row_pieces_ + row_piece) * per_row_piece + first_column * values_;
    return made;
  };
  RunShards(pool, sizes_.outer * per_outer, CeilOfRatio(kElements, std::max<int64_t>(1, sizes_.rows * sizes_.columns)),
            [&](Shard shard) {
              for (int64_t i = shard.begin; i < shard.end; ++i) piece(make(i));
            });
  for (int64_t i = 0; i < sizes_.outer * per_outer; ++i)
    combine(make(i), i / per_outer, i % per_outer < column_pieces_);
}

}  // namespace hpu::emulator
