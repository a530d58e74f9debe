#include "plugin/backends/emulator/kernels/column_reduction.h"

#include <limits>
#include <memory>

#include "absl/strings/str_cat.h"
#include "plugin/backends/emulator/kernels/bfloat16.h"
#include "plugin/backends/emulator/kernels/lanes.h"
#include "plugin/backends/emulator/kernels/vectorize.h"
#include "plugin/base/status_macros.h"

namespace hpu::emulator {
namespace {

using Function = ColumnReduction::Function;
using Element = ColumnReduction::Element;

constexpr char kColumnReductionName[] = "column_reduction.3";

// T: float, BFloat16, or uint8_t for booleans.
template <typename T>
struct Work {
  const T* a;
  const T* b;
  const ColumnPiece* piece;
};

using hpu::emulator::Load;
HPU_INLINE float Load(const uint8_t* from) { return *from; }

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
  // Returns NaN if one of the operands is NaN, as XLA does.
  static HPU_INLINE float Of(float a, float b) {
    const float greater = a >= b ? a : b;
    return a != a ? a : greater;
  }
};

template <typename F>
struct ReduceLanes {
  template <int kLanes, typename T>
  static HPU_INLINE void Run(const Work<T>& work, int64_t first) {
    const ColumnPiece& piece = *work.piece;
    const T* a = work.a + piece.begin + first;
    const T* b = work.b + piece.begin + first;
    const int64_t s = piece.stride;
    float sum[kLanes];
    HPU_SIMD for (int64_t c = 0; c < kLanes; ++c) sum[c] = F::kInitial;
    int64_t row = 0;
    // Combines four rows with each other first, so that sums lose less precision.
    for (; row + 4 <= piece.rows; row += 4, a += 4 * s, b += 4 * s) {
      HPU_SIMD for (int64_t c = 0; c < kLanes; ++c) {
        const float low = F::Of(ElementAt(a, b, c), ElementAt(a, b, c + s));
        const float high = F::Of(ElementAt(a, b, c + 2 * s), ElementAt(a, b, c + 3 * s));
        sum[c] = F::Of(sum[c], F::Of(low, high));
      }
    }
    for (; row < piece.rows; ++row, a += s, b += s) {
      HPU_SIMD for (int64_t c = 0; c < kLanes; ++c) sum[c] = F::Of(sum[c], ElementAt(a, b, c));
    }
    HPU_SIMD for (int64_t c = 0; c < kLanes; ++c) piece.partial[first + c] = sum[c];
  }

  template <typename T>
  static HPU_INLINE float ElementAt(const T* a, const T* b, int64_t i) {
    return F::Element(Load(a + i), Load(b + i));
  }
};

template <typename F, typename T>
HPU_INLINE void Reduce(const Work<T>& work) {
  OverLanes<ReduceLanes<F>>(work, 0, work.piece->columns);
}

#define HPU_REDUCTION(name, F)                                \
  HPU_VECTORIZED(name, Work<float>, (Reduce<F, float>))       \
  HPU_VECTORIZED(name, Work<BFloat16>, (Reduce<F, BFloat16>)) \
  HPU_VECTORIZED(name, Work<uint8_t>, (Reduce<F, uint8_t>))

HPU_REDUCTION(ReduceSum, Sum)
HPU_REDUCTION(ReduceSumOfSquares, SumOfSquares)
HPU_REDUCTION(ReduceSumOfProducts, SumOfProducts)
HPU_REDUCTION(ReduceMax, Max)
HPU_REDUCTION(ReduceProduct, Product)

// Combines the results of two pieces of a column.
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

template <typename T>
class ColumnReductionKernel final : public Kernel {
 public:
  ColumnReductionKernel(Function function, const Columns& columns) : function_(function), plan_(columns, 1) {}

  absl::Status Run(const KernelCall& call) const override {
    const auto* a = static_cast<const T*>(call.operands[0]);
    const auto* b = function_ == Function::kSumOfProducts ? static_cast<const T*>(call.operands[1]) : a;
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

  static void (*RunOf(Function function))(const Work<T>&) {
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

template <typename T>
absl::StatusOr<std::unique_ptr<const Kernel>> MakeOf(Function function, const Columns& columns) {
  if (ColumnReductionKernel<T>::RunOf(function) == nullptr)
    return absl::InvalidArgumentError(
        absl::StrCat("unknown function ", static_cast<int64_t>(function),
                     ": expected 0 (sum), 1 (sum of squares), 2 (sum of products), 3 (maximum) or 4 (product)"));
  return std::make_unique<ColumnReductionKernel<T>>(function, columns);
}

absl::StatusOr<std::unique_ptr<const Kernel>> MakeColumnReduction(absl::Span<const int64_t> parameters) {
  if (parameters.size() < 2)
    return absl::InvalidArgumentError(absl::StrCat(
        "expected 5 parameters: function, element type, outer, rows and columns; got ", parameters.size()));
  const auto function = static_cast<Function>(parameters[0]);
  HPU_ASSIGN_OR_RETURN(const Columns columns, Columns::Parse(parameters.subspan(2)));
  switch (static_cast<Element>(parameters[1])) {
    case Element::kFloat32:
      return MakeOf<float>(function, columns);
    case Element::kBFloat16:
      return MakeOf<BFloat16>(function, columns);
    case Element::kBool:
      return MakeOf<uint8_t>(function, columns);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown element type ", parameters[1], ": expected 0 (float32), 1 (bfloat16) or 2 (bool)"));
}

const bool column_reduction_registered = RegisterKernel(kColumnReductionName, MakeColumnReduction);

}  // namespace

KernelSpec ColumnReduction::Spec() const {
  return {
      kColumnReductionName,
      {static_cast<int64_t>(function), static_cast<int64_t>(element), columns.outer, columns.rows, columns.columns}};
}

}  // namespace hpu::emulator
