#include "plugin/backends/emulator/kernels/batch_norm.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "plugin/backends/emulator/kernels/bfloat16.h"
#include "plugin/backends/emulator/kernels/columns.h"
#include "plugin/backends/emulator/kernels/lanes.h"
#include "plugin/backends/emulator/kernels/vectorize.h"
#include "plugin/base/status_macros.h"

namespace hpu::emulator {
namespace {

constexpr char kMoments[] = "batch_moments.2";
constexpr char kGradientSums[] = "batch_gradient_sums.2";
// Number of rows that are read twice, the second time from the cache.
constexpr int64_t kBlock = 32;

template <typename F, typename Work>
HPU_INLINE void OverColumns(const Work& work) {
  OverLanes<F>(work, 0, work.piece->columns);
}

template <typename T>
struct Moments {
  const T* x;
  const ColumnPiece* piece;
};

// Merges two groups of elements: extends `mean` and `squares` (the sum of squared differences from the mean) of `count`
// elements to `other_count` further elements.
HPU_INLINE void Join(float count, float* mean, float* squares, float other_count, float other_mean,
                     float other_squares) {
  const float apart = other_mean - *mean;
  const float share = other_count / (count + other_count);
  *mean += apart * share;
  *squares += other_squares + apart * apart * (count * share);
}

struct LaneMoments {
  template <int kLanes, typename T>
  static HPU_INLINE void Run(const Moments<T>& work, int64_t first) {
    const ColumnPiece& piece = *work.piece;
    const int64_t stride = piece.stride;
    float* const means = piece.partial + first;
    float* const squares = means + piece.columns;
    const T* x = work.x + piece.begin + first;
    for (int64_t row = 0; row < piece.rows; row += kBlock, x += kBlock * stride) {
      const int64_t rows = std::min(kBlock, piece.rows - row);
      float mean[kLanes] = {}, square[kLanes] = {};
      for (int64_t r = 0; r < rows; ++r) {
        HPU_SIMD for (int64_t c = 0; c < kLanes; ++c) mean[c] += Load(x + r * stride + c);
      }
      HPU_SIMD for (int64_t c = 0; c < kLanes; ++c) mean[c] /= static_cast<float>(rows);
      for (int64_t r = 0; r < rows; ++r) {
        HPU_SIMD for (int64_t c = 0; c < kLanes; ++c) {
          const float apart = Load(x + r * stride + c) - mean[c];
          square[c] += apart * apart;
        }
      }
      for (int64_t c = 0; c < kLanes; ++c) {
        if (row == 0) {
          means[c] = mean[c];
          squares[c] = square[c];
        } else {
          Join(row, &means[c], &squares[c], rows, mean[c], square[c]);
        }
      }
    }
  }
};

HPU_VECTORIZED(MomentsOfPiece, Moments<float>, OverColumns<LaneMoments>)
HPU_VECTORIZED(MomentsOfPiece, Moments<BFloat16>, OverColumns<LaneMoments>)

template <typename T>
class MomentsKernel final : public Kernel {
 public:
  explicit MomentsKernel(const Columns& columns) : plan_(columns, 2) {}

  int results() const override { return 2; }

  absl::Status Run(const KernelCall& call) const override {
    const auto* x = static_cast<const T*>(call.operands[0]);
    auto* mean = static_cast<float*>(call.results[0]);
    auto* variance = static_cast<float*>(call.results[1]);
    const float all = plan_.sizes().rows;
    int64_t before = 0;
    plan_.Run(
        call.pool, [x](const ColumnPiece& piece) { MomentsOfPiece(Moments<T>{x, &piece}); },
        [&](const ColumnPiece& piece, int64_t, bool first) {
          const float* means = piece.partial;
          const float* squares = means + piece.columns;
          for (int64_t c = 0; c < piece.columns; ++c) {
            float* m = mean + piece.first_column + c;
            float* v = variance + piece.first_column + c;
            if (first) {
              *m = means[c];
              *v = squares[c];
            } else {
              Join(before, m, v, piece.rows, means[c], squares[c]);
            }
          }
          // `before` counts rows whose columns are all combined.
          if (piece.first_column + piece.columns == plan_.sizes().columns) before += piece.rows;
        });
    for (int64_t c = 0; c < plan_.sizes().columns; ++c) variance[c] /= all;
    return absl::OkStatus();
  }

 private:
  const ColumnPlan plan_;
};

template <typename T>
struct GradientSums {
  const T* x;
  const float* mean;
  const T* gradient;
  const ColumnPiece* piece;
};

struct LaneGradientSums {
  template <int kLanes, typename T>
  static HPU_INLINE void Run(const GradientSums<T>& work, int64_t first) {
    const ColumnPiece& piece = *work.piece;
    const int64_t s = piece.stride;
    const T* x = work.x + piece.begin + first;
    const T* g = work.gradient + piece.begin + first;
    float mean[kLanes], sum[kLanes] = {}, product[kLanes] = {};
    HPU_SIMD for (int64_t c = 0; c < kLanes; ++c) mean[c] = work.mean[piece.first_column + first + c];
    int64_t row = 0;
    for (; row + 2 <= piece.rows; row += 2, x += 2 * s, g += 2 * s) {
      HPU_SIMD for (int64_t c = 0; c < kLanes; ++c) {
        const float one = Load(g + c), next = Load(g + c + s);
        sum[c] += one + next;
        product[c] += one * (Load(x + c) - mean[c]) + next * (Load(x + c + s) - mean[c]);
      }
    }
    if (row < piece.rows) {
      HPU_SIMD for (int64_t c = 0; c < kLanes; ++c) {
        sum[c] += Load(g + c);
        product[c] += Load(g + c) * (Load(x + c) - mean[c]);
      }
    }
    float* const partial = piece.partial + first;
    HPU_SIMD for (int64_t c = 0; c < kLanes; ++c) {
      partial[c] = sum[c];
      partial[c + piece.columns] = product[c];
    }
  }
};

HPU_VECTORIZED(GradientSumsOfPiece, GradientSums<float>, OverColumns<LaneGradientSums>)
HPU_VECTORIZED(GradientSumsOfPiece, GradientSums<BFloat16>, OverColumns<LaneGradientSums>)

template <typename T>
class GradientSumsKernel final : public Kernel {
 public:
  explicit GradientSumsKernel(const Columns& columns) : plan_(columns, 2) {}

  int results() const override { return 2; }

  absl::Status Run(const KernelCall& call) const override {
    const auto* x = static_cast<const T*>(call.operands[0]);
    const auto* mean = static_cast<const float*>(call.operands[1]);
    const auto* gradient = static_cast<const T*>(call.operands[2]);
    plan_.Run(
        call.pool, [&](const ColumnPiece& piece) { GradientSumsOfPiece(GradientSums<T>{x, mean, gradient, &piece}); },
        [&](const ColumnPiece& piece, int64_t, bool first) {
          for (int i = 0; i < 2; ++i) {
            const float* from = piece.partial + i * piece.columns;
            float* to = static_cast<float*>(call.results[i]) + piece.first_column;
            for (int64_t c = 0; c < piece.columns; ++c) to[c] = first ? from[c] : to[c] + from[c];
          }
        });
    return absl::OkStatus();
  }

 private:
  const ColumnPlan plan_;
};

template <template <typename> class K>
absl::StatusOr<std::unique_ptr<const Kernel>> Make(absl::Span<const int64_t> parameters) {
  if (parameters.size() != 3) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected 3 parameters: rows, features and bfloat16; got ", parameters.size()));
  }
  HPU_ASSIGN_OR_RETURN(const Columns columns, Columns::Parse({1, parameters[0], parameters[1]}));
  if (parameters[2] != 0) return std::make_unique<K<BFloat16>>(columns);
  return std::make_unique<K<float>>(columns);
}

const bool registered =
    RegisterKernel(kMoments, Make<MomentsKernel>) && RegisterKernel(kGradientSums, Make<GradientSumsKernel>);

}  // namespace

KernelSpec BatchMoments::Spec() const { return {kMoments, {rows, features, bfloat16}}; }

KernelSpec BatchGradientSums::Spec() const { return {kGradientSums, {rows, features, bfloat16}}; }

}  // namespace hpu::emulator
