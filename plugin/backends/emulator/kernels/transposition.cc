#include "plugin/backends/emulator/kernels/transposition.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "plugin/backends/emulator/kernels/parallel.h"
#include "plugin/backends/emulator/kernels/transpose_tile.h"
#include "plugin/backends/emulator/kernels/vectorize.h"

namespace hpu::emulator {
namespace {

constexpr char kName[] = "transposition.1";
constexpr int64_t kTile = 64;
// Maximum number of columns that are transposed at a time, so that the result's pages stay in the TLB.
constexpr int64_t kMaxColumns = kTile;
constexpr int64_t kMaxRows = 4 * kTile;

// Goes through a buffer in the first-level cache. Lines of the result that are a power of two apart would otherwise
// evict each other before they are full.
template <typename T>
HPU_INLINE void Transpose(const TransposedMatrix<T>& matrix) {
  alignas(64) T made[kTile * kTile];
  for (int64_t c = 0; c < matrix.columns; c += kTile) {
    for (int64_t r = 0; r < matrix.rows; r += kTile) {
      const int64_t rows = std::min(kTile, matrix.rows - r), columns = std::min(kTile, matrix.columns - c);
      TransposeTile<T>({matrix.from + r * matrix.from_stride + c, made, rows, columns, matrix.from_stride, kTile});
      for (int64_t i = 0; i < columns; ++i) {
        std::memcpy(matrix.to + (c + i) * matrix.to_stride + r, made + i * kTile, rows * sizeof(T));
      }
    }
  }
}

HPU_VECTORIZED(Transpose16, TransposedMatrix<uint16_t>, Transpose<uint16_t>)
HPU_VECTORIZED(Transpose32, TransposedMatrix<uint32_t>, Transpose<uint32_t>)
HPU_VECTORIZED(Transpose64, TransposedMatrix<uint64_t>, Transpose<uint64_t>)

struct Dimension {
  int64_t size;
  int64_t from_stride;
  int64_t to_stride;
};

// The result's dimensions, outermost first; dimensions that are adjacent in both arrays are merged.
std::vector<Dimension> DimensionsOf(const Transposition& transposition) {
  const std::vector<int64_t>&sizes = transposition.sizes, &order = transposition.order;
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t i = sizes.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * sizes[i];
  std::vector<Dimension> dimensions;
  int64_t to_stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const int64_t size = sizes[order[i]];
    if (size == 1) continue;
    if (!dimensions.empty() && strides[order[i]] == dimensions.back().size * dimensions.back().from_stride) {
      dimensions.back().size *= size;
    } else {
      dimensions.push_back({size, strides[order[i]], to_stride});
    }
    to_stride *= size;
  }
  std::reverse(dimensions.begin(), dimensions.end());
  return dimensions;
}

class TranspositionKernel final : public Kernel {
 public:
  // Requires at least two dimensions. The last one must have a stride other than 1 in the operand.
  TranspositionKernel(int64_t element_bytes, std::vector<Dimension> dimensions)
      : element_bytes_(element_bytes), outer_(std::move(dimensions)) {
    rows_ = outer_.back();
    outer_.pop_back();
    const auto last = std::find_if(outer_.begin(), outer_.end(), [](const Dimension& d) { return d.from_stride == 1; });
    columns_ = *last;
    outer_.erase(last);
    for (const Dimension& dimension : outer_) matrices_ *= dimension.size;
  }

  absl::Status Run(const KernelCall& call) const override {
    switch (element_bytes_) {
      case 2:
        Run(call, Transpose16);
        break;
      case 4:
        Run(call, Transpose32);
        break;
      default:
        Run(call, Transpose64);
    }
    return absl::OkStatus();
  }

 private:
  template <typename T>
  void Run(const KernelCall& call, void (*transpose)(const TransposedMatrix<T>&)) const {
    const auto pieces_of = [](int64_t size, int64_t max) { return (size + max - 1) / max; };
    const int64_t row_pieces = pieces_of(rows_.size, kMaxRows), column_pieces = pieces_of(columns_.size, kMaxColumns);
    const int64_t piece_bytes = 2 * sizeof(T) * std::min(rows_.size, kMaxRows) * std::min(columns_.size, kMaxColumns);
    RunShards(call.pool, matrices_ * row_pieces * column_pieces, ShardSize(piece_bytes), [&](Shard shard) {
      for (int64_t i = shard.begin; i < shard.end; ++i) {
        const int64_t row = i % row_pieces * kMaxRows, column = i / row_pieces % column_pieces * kMaxColumns;
        int64_t from = row * rows_.from_stride + column, to = row + column * columns_.to_stride;
        int64_t matrix = i / (row_pieces * column_pieces);
        for (auto dimension = outer_.rbegin(); dimension != outer_.rend(); ++dimension) {
          from += matrix % dimension->size * dimension->from_stride;
          to += matrix % dimension->size * dimension->to_stride;
          matrix /= dimension->size;
        }
        transpose({static_cast<const T*>(call.operands[0]) + from, static_cast<T*>(call.results[0]) + to,
                   std::min(kMaxRows, rows_.size - row), std::min(kMaxColumns, columns_.size - column),
                   rows_.from_stride, columns_.to_stride});
      }
    });
  }

  const int64_t element_bytes_;
  std::vector<Dimension> outer_;
  Dimension rows_;     // the result's last dimension
  Dimension columns_;  // the operand's last dimension
  int64_t matrices_ = 1;
};

// Parameters: element_bytes, rank, sizes, order.
absl::StatusOr<std::unique_ptr<const Kernel>> Make(absl::Span<const int64_t> parameters) {
  const absl::Status error = absl::InvalidArgumentError(
      "expected element_bytes (2, 4 or 8), rank >= 2, positive sizes, and an order of the dimensions that moves the "
      "last one");
  const int64_t rank = parameters.size() < 2 ? 0 : parameters[1];
  if (rank < 2 || static_cast<int64_t>(parameters.size()) != 2 + 2 * rank ||
      (parameters[0] != 2 && parameters[0] != 4 && parameters[0] != 8)) {
    return error;
  }
  const absl::Span<const int64_t> sizes = parameters.subspan(2, rank), order = parameters.subspan(2 + rank);
  std::vector<int64_t> sorted(order.begin(), order.end());
  std::sort(sorted.begin(), sorted.end());
  for (int64_t i = 0; i < rank; ++i) {
    if (sizes[i] <= 0 || sorted[i] != i) return error;
  }
  std::vector<Dimension> dimensions =
      DimensionsOf({parameters[0], {sizes.begin(), sizes.end()}, {order.begin(), order.end()}});
  if (dimensions.empty() || dimensions.back().from_stride == 1) return error;
  return std::make_unique<TranspositionKernel>(parameters[0], std::move(dimensions));
}

const bool registered = RegisterKernel(kName, Make);

}  // namespace

KernelSpec Transposition::Spec() const {
  KernelSpec spec{kName, {element_bytes, static_cast<int64_t>(sizes.size())}};
  spec.parameters.insert(spec.parameters.end(), sizes.begin(), sizes.end());
  spec.parameters.insert(spec.parameters.end(), order.begin(), order.end());
  return spec;
}

}  // namespace hpu::emulator
