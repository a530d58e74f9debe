#include "plugin/backends/emulator/kernels/column_reduction.h"

#include <limits>
#include <memory>

#include "plugin/backends/emulator/kernels/lanes.h"
#include "plugin/backends/emulator/kernels/vectorize.h"
#include "plugin/hal/status_macros.h"

namespace hpu::emulator {
namespace {

using Function = ColumnReduction::Function;

constexpr char kName[] = "column_reduction.2";

struct Work {
  const float* a;
  const float* b;
  const ColumnPiece* piece;
};

struct Sum {
  static constexpr float kInitial = 0;
  static HPU_INLINE float Element(float a, float) { return a; }
  static HPU_INLINE float Of(float a, float b) { return a + b; }
};

struct SumOfSquares : Sum {
  static HPU_INLINE float Element(float a, float) { return a * a; }
};

struct SumOfProducts : Sum {
  static HPU_INLINE float Element(float a, float b) { return a * b; }
};

struct Product {
  static constexpr float kInitial = 1;
  static HPU_INLINE float Element(float a, float) { return a; }
  static HPU_INLINE float Of(float a, float b) { return a * b; }
};

struct Max {
  static constexpr float kInitial = -std::numeric_limits<float>::infinity();
  static HPU_INLINE float Element(float a, float) { return a; }
  // A NaN stays, as it does in XLA.
  static HPU_INLINE float Of(float a, float b) {
    const float greater = a >= b ? a : b;
    return a != a ? a : greater;
  }
};

template <typename F>
struct ReduceLanes {
  template <int kLanes>
  static HPU_INLINE void Run(const Work& work, int64_t first) {
    const ColumnPiece& piece = *work.piece;
    const float* a = work.a + piece.begin + first;
    const float* b = work.b + piece.begin + first;
    const int64_t s = piece.stride;
    float sum[kLanes];
    HPU_SIMD for (int64_t c = 0; c < kLanes; ++c) sum[c] = F::kInitial;
    int64_t row = 0;
    // Four rows at once: the sums lose less of small numbers.
    for (; row + 4 <= piece.rows; row += 4, a += 4 * s, b += 4 * s) {
      HPU_SIMD for (int64_t c = 0; c < kLanes; ++c) {
        const float low = F::Of(F::Element(a[c], b[c]), F::Element(a[c + s], b[c + s]));
        const float high = F::Of(F::Element(a[c + 2 * s], b[c + 2 * s]), F::Element(a[c + 3 * s], b[c + 3 * s]));
        sum[c] = F::Of(sum[c], F::Of(low, high));
      }
    }
    for (; row < piece.rows; ++row, a += s, b += s) {
      HPU_SIMD for (int64_t c = 0; c < kLanes; ++c) sum[c] = F::Of(sum[c], F::Element(a[c], b[c]));
    }
    HPU_SIMD for (int64_t c = 0; c < kLanes; ++c) piece.partial[first + c] = sum[c];
  }
};

template <typename F>
HPU_INLINE void Reduce(const Work& work) {
  OverLanes<ReduceLanes<F>>(work, 0, work.piece->columns);
}

HPU_VECTORIZED(ReduceSum, Work, Reduce<Sum>)
HPU_VECTORIZED(ReduceSumOfSquares, Work, Reduce<SumOfSquares>)
HPU_VECTORIZED(ReduceSumOfProducts, Work, Reduce<SumOfProducts>)
HPU_VECTORIZED(ReduceMax, Work, Reduce<Max>)
HPU_VECTORIZED(ReduceProduct, Work, Reduce<Product>)

// Of two pieces of a column.
float Combined(Function function, float a, float b) {
  switch (function) {
    case Function::kMax:
      return Max::Of(a, b);
    case Function::kProduct:
      return Product::Of(a, b);
    default:
      return Sum::Of(a, b);
  }
}

class ColumnReductionKernel final : public Kernel {
 public:
  ColumnReductionKernel(Function function, const Columns& columns) : function_(function), plan_(columns, 1) {}

  absl::Status Run(const KernelCall& call) const override {
    const auto* a = static_cast<const float*>(call.operands[0]);
    const auto* b = function_ == Function::kSumOfProducts ? static_cast<const float*>(call.operands[1]) : a;
    auto* result = static_cast<float*>(call.results[0]);
    plan_.Run(
        call.pool, [&](const ColumnPiece& piece) { RunOf(function_)({a, b, &piece}); },
        [&](const ColumnPiece& piece, int64_t outer, bool first) {
          float* to = result + outer * plan_.sizes().columns + piece.first_column;
          for (int64_t c = 0; c < piece.columns; ++c) {
            const float value = piece.partial[c];
            to[c] = first ? value : Combined(function_, to[c], value);
          }
        });
    return absl::OkStatus();
  }

  static void (*RunOf(Function function))(const Work&) {
    switch (function) {
      case Function::kSum:
        return ReduceSum;
      case Function::kSumOfSquares:
        return ReduceSumOfSquares;
      case Function::kSumOfProducts:
        return ReduceSumOfProducts;
      case Function::kMax:
        return ReduceMax;
      case Function::kProduct:
        return ReduceProduct;
    }
    return nullptr;
  }

 private:
  const Function function_;
  const ColumnPlan plan_;
};

absl::StatusOr<std::unique_ptr<const Kernel>> Make(absl::Span<const int64_t> parameters) {
  const auto function = static_cast<Function>(parameters.empty() ? -1 : parameters[0]);
  if (ColumnReductionKernel::RunOf(function) == nullptr) return absl::InvalidArgumentError("no such reduction");
  HPU_ASSIGN_OR_RETURN(const Columns columns, Columns::Parse(parameters.subspan(1)));
  return std::make_unique<ColumnReductionKernel>(function, columns);
}

const bool registered = RegisterKernel(kName, Make);

}  // namespace

KernelSpec ColumnReduction::Spec() const {
  return {kName, {static_cast<int64_t>(function), columns.outer, columns.rows, columns.columns}};
}

}  // namespace hpu::emulator
