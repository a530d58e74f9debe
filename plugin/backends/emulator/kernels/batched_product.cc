#include "plugin/backends/emulator/kernels/batched_product.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "plugin/backends/emulator/kernels/lanes.h"
#include "plugin/backends/emulator/kernels/parallel.h"
#include "plugin/backends/emulator/kernels/transpose_tile.h"
#include "plugin/backends/emulator/kernels/vectorize.h"

namespace hpu::emulator {
namespace {

constexpr char kBatchedProductName[] = "batched_product.1";
// Rows of the result that are computed at once, each in a register.
constexpr int kRows = 8;
// Number of products in a partial sum. Adding partial sums keeps long sums accurate.
constexpr int64_t kAddends = 256;
// Number of multiplications that one thread computes in about 20 µs.
constexpr int64_t kPieceProducts = 1 << 20;
// Maximum number of tasks if few matrices are split by rows.
constexpr int64_t kMinPieces = 16;

// Some rows of one product.
struct Work {
  const BatchedProduct* product;
  const float* a;
  const float* b;
  float* to;  // the first of these rows
  int64_t rows;
  float* strips;  // buffer for a copy of some columns of b, [inner, up to 16]; null: reads b itself
};

// Adjacent columns of b; rows of b are `stride` elements apart.
struct Strip {
  const float* b;
  int64_t stride;
  int64_t column;
};

// Computes a tile's sums over the elements from `begin` to `end` of the inner dimension. Adds the sums to the result,
// or stores them if `begin` is 0.
template <int rows, int n>
HPU_INLINE void AddToTile(const Work& work, const Strip& strip, int64_t row, int64_t begin, int64_t end) {
  const BatchedProduct& product = *work.product;
  const float* a[rows];
  Lanes<float, n> sums[rows] = {};
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) a[i] = work.a + (row + i) * product.a_row_stride;
  for (int64_t k = begin; k < end; ++k) {
    const auto b = LoadLanes<n>(strip.b + k * strip.stride);
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) sums[i] += a[i][k * product.a_inner_stride] * b;
  }
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) {
    float* const to = work.to + (row + i) * product.columns + strip.column;
    if (begin > 0) sums[i] += LoadLanes<n>(to);
    StoreLanes(sums[i], to);
  }
}

template <int rows, int n>
HPU_INLINE void MakeTile(const Work& work, const Strip& strip, int64_t row) {
  for (int64_t begin = 0; begin < work.product->inner; begin += kAddends) {
    AddToTile<rows, n>(work, strip, row, begin, std::min(work.product->inner, begin + kAddends));
  }
}

template <int n>
HPU_INLINE void MakeRows(const Work& work, const Strip& strip) {
  int64_t row = 0;
  for (; row + kRows <= work.rows; row += kRows) MakeTile<kRows, n>(work, strip, row);
  for (; row + 4 <= work.rows; row += 4) MakeTile<4, n>(work, strip, row);
  for (; row < work.rows; ++row) MakeTile<1, n>(work, strip, row);
}

// Copies n columns of b to a dense [inner, n] array.
template <int n>
HPU_INLINE void CopyStrip(const Work& work, int64_t column, float* to) {
  const BatchedProduct& product = *work.product;
  const float* const from = work.b + column * product.b_column_stride;
  if (product.b_column_stride == 1) {
    for (int64_t k = 0; k < product.inner; ++k) {
      std::memcpy(to + k * n, from + k * product.b_inner_stride, n * sizeof(float));
    }
  } else if (product.b_inner_stride == 1) {
    TransposeTile<float>({from, to, n, product.inner, product.b_column_stride, n});
  } else {
    for (int64_t k = 0; k < product.inner; ++k) {
      for (int i = 0; i < n; ++i) to[k * n + i] = from[k * product.b_inner_stride + i * product.b_column_stride];
    }
  }
}

// Computes the columns from `column` on: n at a time, then fewer for the rest.
template <int n>
HPU_INLINE void MakeColumns(const Work& work, int64_t column) {
  const BatchedProduct& product = *work.product;
  for (; column + n <= product.columns; column += n) {
    if (work.strips == nullptr) {
      MakeRows<n>(work, {work.b + column, product.b_inner_stride, column});
    } else {
      CopyStrip<n>(work, column, work.strips);
      MakeRows<n>(work, {work.strips, n, column});
    }
  }
  if constexpr (n > 1) MakeColumns<n / 2>(work, column);
}

struct Product {
  template <int width>
  static HPU_INLINE void Run(const Work& work) {
    MakeColumns<width>(work, 0);
  }
};

HPU_VECTORIZED_BY_REGISTERS(Multiply, Work, Product)

class BatchedProductKernel final : public Kernel {
 public:
  explicit BatchedProductKernel(BatchedProduct product) : product_(std::move(product)) {
    for (const BatchedProduct::Batch& batch : product_.batches) matrices_ *= batch.size;
    // Splits the matrices by rows if there are few matrices. The split does not change how an element is computed.
    const int64_t cuts = std::max<int64_t>(1, kMinPieces / matrices_);
    rows_of_piece_ = ((product_.rows + cuts - 1) / cuts + kRows - 1) / kRows * kRows;
    pieces_of_matrix_ = (product_.rows + rows_of_piece_ - 1) / rows_of_piece_;
    const int64_t products = std::min(rows_of_piece_, product_.rows) * product_.inner * product_.columns;
    pieces_at_once_ = std::max<int64_t>(1, kPieceProducts / std::max<int64_t>(1, products));
    // Copies columns of b unless they are adjacent. Also copies adjacent columns if many rows of a read them and the
    // rows of b are far apart.
    copies_ = product_.b_column_stride != 1 ||
              (std::min(rows_of_piece_, product_.rows) > 2 * kRows && product_.b_inner_stride > 64);
  }

  absl::Status Run(const KernelCall& call) const override {
    const auto* a = static_cast<const float*>(call.operands[0]);
    const auto* b = static_cast<const float*>(call.operands[1]);
    auto* to = static_cast<float*>(call.results[0]);
    RunShards(call.pool, matrices_ * pieces_of_matrix_, pieces_at_once_, [&](Shard shard) {
      // Kept per thread, so that not every launch allocates.
      thread_local std::vector<float> strips;
      const size_t needed = copies_ ? product_.inner * 16 : 0;
      if (strips.size() < needed) strips.resize(needed);
      for (int64_t i = shard.begin; i < shard.end; ++i) {
        const int64_t matrix = i / pieces_of_matrix_, row = i % pieces_of_matrix_ * rows_of_piece_;
        const auto [a_begin, b_begin] = Begin(matrix);
        Multiply({&product_, a + a_begin + row * product_.a_row_stride, b + b_begin,
                  to + (matrix * product_.rows + row) * product_.columns, std::min(rows_of_piece_, product_.rows - row),
                  copies_ ? strips.data() : nullptr});
      }
    });
    return absl::OkStatus();
  }

 private:
  // Offsets of a product's matrices in a and b.
  std::pair<int64_t, int64_t> Begin(int64_t matrix) const {
    std::pair<int64_t, int64_t> begin = {0, 0};
    for (size_t i = product_.batches.size(); i-- > 0;) {
      const BatchedProduct::Batch& batch = product_.batches[i];
      begin.first += matrix % batch.size * batch.a_stride;
      begin.second += matrix % batch.size * batch.b_stride;
      matrix /= batch.size;
    }
    return begin;
  }

  const BatchedProduct product_;
  int64_t matrices_ = 1;
  int64_t rows_of_piece_ = 1;
  int64_t pieces_of_matrix_ = 1;
  int64_t pieces_at_once_ = 1;
  bool copies_ = false;
};

// Whether all sizes are positive and their product is small enough.
bool AreSizes(const BatchedProduct& product) {
  constexpr int64_t kMax = int64_t{1} << 40;
  int64_t all = 1;
  const auto multiply = [&all](int64_t size) {
    return size > 0 && !__builtin_mul_overflow(all, size, &all) && all <= kMax;
  };
  for (const BatchedProduct::Batch& batch : product.batches) {
    if (!multiply(batch.size)) return false;
  }
  return multiply(product.rows) && multiply(product.inner) && multiply(product.columns);
}

absl::StatusOr<std::unique_ptr<const Kernel>> MakeBatchedProduct(absl::Span<const int64_t> parameters) {
  constexpr size_t kFixed = 7;
  const auto refuse = [] {
    return absl::InvalidArgumentError(
        "expected rows, inner, columns, a_row_stride, a_inner_stride, b_inner_stride and b_column_stride, then size, "
        "a_stride and b_stride of each batch dimension; sizes must be positive, with a product of at most 2^40, and "
        "strides must not be negative");
  };
  if (parameters.size() < kFixed || (parameters.size() - kFixed) % 3 != 0 ||
      *std::min_element(parameters.begin(), parameters.end()) < 0) {
    return refuse();
  }
  BatchedProduct product{parameters[0], parameters[1], parameters[2], parameters[3],
                         parameters[4], parameters[5], parameters[6], {}};
  for (size_t i = kFixed; i < parameters.size(); i += 3) {
    product.batches.push_back({parameters[i], parameters[i + 1], parameters[i + 2]});
  }
  if (!AreSizes(product)) return refuse();
  return std::make_unique<BatchedProductKernel>(std::move(product));
}

const bool batched_product_registered = RegisterKernel(kBatchedProductName, MakeBatchedProduct);

}  // namespace

KernelSpec BatchedProduct::Spec() const {
  KernelSpec spec{kBatchedProductName,
                  {rows, inner, columns, a_row_stride, a_inner_stride, b_inner_stride, b_column_stride}};
  for (const Batch& batch : batches) {
    spec.parameters.insert(spec.parameters.end(), {batch.size, batch.a_stride, batch.b_stride});
  }
  return spec;
}

}  // namespace hpu::emulator
