#include "plugin/backends/emulator/kernels/softmax.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "plugin/backends/emulator/kernels/bfloat16.h"
#include "plugin/backends/emulator/kernels/lanes.h"
#include "plugin/backends/emulator/kernels/parallel.h"
#include "plugin/backends/emulator/kernels/vectorize.h"

namespace hpu::emulator {
namespace {

constexpr char kName[] = "softmax.2";
// Maximum number of elements in one step of OverLanes; each lane has its own maximum and sum.
constexpr int kLanes = 64;

template <typename To, typename From>
HPU_INLINE To BitsAs(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

// e^x for x <= 0 and NaN, with an error of at most 3 ULP; 0 if the result would be denormal. Has no branches, so that
// loops are vectorised.
HPU_INLINE float Exp(float x) {
  constexpr float kMin = -87.336544f;  // the logarithm of 2^-126
  constexpr float kLog2E = 1.44269504f, kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  // Adding kRound rounds a number to the nearest integer, which is in the lowest bits of the sum.
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23
  const float bounded = x < kMin ? kMin : x;
  const float shifted = bounded * kLog2E + kRound;
  const float n = shifted - kRound;
  const float r = (bounded - n * kLn2High) - n * kLn2Low;
  // e^r on [-ln 2 / 2, ln 2 / 2]: the minimax polynomial of the Cephes library.
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  // The shift drops the bits of kRound.
  const float power = BitsAs<float>((BitsAs<uint32_t>(shifted) + 127u) << 23);
  const float result = p * power;
  return x < kMin ? 0.0f : result;
}

template <typename T>
struct Work {
  const T* from;
  T* to;
  int64_t rows;
  int64_t columns;
  float* row;  // buffer for `columns` exponentials; null if the results are float32
};

template <typename T>
struct Row {
  const T* from;
  T* to;
  float* powers;
  float* lanes;
  float value;  // the row's maximum, or the factor of the results
};

// Returns `b` if `a` is NaN.
HPU_INLINE float Greater(float a, float b) { return a > b ? a : b; }

struct Greatest {
  template <int n, typename T>
  static HPU_INLINE void Run(const Row<T>& row, int64_t lane) {
    HPU_SIMD
    for (int i = 0; i < n; ++i) {
      row.lanes[i] = Greater(Load(row.from + lane + i), row.lanes[i]);
    }
  }
};

struct AddExp {
  template <int n, typename T>
  static HPU_INLINE void Run(const Row<T>& row, int64_t lane) {
    HPU_SIMD
    for (int i = 0; i < n; ++i) {
      const float value = Exp(Load(row.from + lane + i) - row.value);
      row.powers[lane + i] = value;
      row.lanes[i] += value;
    }
  }
};

struct Scale {
  template <int n, typename T>
  static HPU_INLINE void Run(const Row<T>& row, int64_t lane) {
    HPU_SIMD
    for (int i = 0; i < n; ++i) Store(row.powers[lane + i] * row.value, row.to + lane + i);
  }
};

HPU_INLINE float Sum(float a, float b) { return a + b; }

// Combines all lanes into lane 0 by halving; a sequential loop would take longer than a short row.
template <int n, float (*combine)(float, float)>
HPU_INLINE void Fold(float* lanes) {
  HPU_SIMD
  for (int i = 0; i < n / 2; ++i) lanes[i] = combine(lanes[i], lanes[i + n / 2]);
  if constexpr (n > 2) Fold<n / 2, combine>(lanes);
}

template <typename T>
HPU_INLINE void Rows(const Work<T>& work) {
  float lanes[kLanes];
  Row<T> row{work.from, work.to, work.row, lanes, 0};
  for (int64_t i = 0; i < work.rows; ++i, row.from += work.columns, row.to += work.columns) {
    if constexpr (std::is_same_v<T, float>) row.powers = row.to;
    std::fill_n(lanes, kLanes, -std::numeric_limits<float>::infinity());
    OverLanes<Greatest>(row, 0, work.columns);
    // The maximum ignores NaN; NaN propagates through the sum instead.
    Fold<kLanes, Greater>(lanes);
    row.value = lanes[0];
    std::fill_n(lanes, kLanes, 0.0f);
    OverLanes<AddExp>(row, 0, work.columns);
    Fold<kLanes, Sum>(lanes);
    row.value = 1.0f / lanes[0];
    OverLanes<Scale>(row, 0, work.columns);
  }
}

HPU_VECTORIZED(RunFloatRows, Work<float>, Rows<float>)
HPU_VECTORIZED(RunBFloat16Rows, Work<BFloat16>, Rows<BFloat16>)

class SoftmaxKernel final : public Kernel {
 public:
  explicit SoftmaxKernel(const Softmax& softmax) : softmax_(softmax) {}

  absl::Status Run(const KernelCall& call) const override {
    RunShards(call.pool, softmax_.rows, ShardSize(16 * softmax_.columns), [&](Shard shard) {
      if (softmax_.bfloat16) {
        // Kept per thread, so that a launch allocates nothing.
        thread_local std::vector<float> row;
        if (static_cast<int64_t>(row.size()) < softmax_.columns) row.resize(softmax_.columns);
        RunBFloat16Rows(WorkOf<BFloat16>(call, shard, row.data()));
      } else {
        RunFloatRows(WorkOf<float>(call, shard, nullptr));
      }
    });
    return absl::OkStatus();
  }

 private:
  template <typename T>
  Work<T> WorkOf(const KernelCall& call, Shard shard, float* row) const {
    const int64_t begin = shard.begin * softmax_.columns;
    return {static_cast<const T*>(call.operands[0]) + begin, static_cast<T*>(call.results[0]) + begin,
            shard.end - shard.begin, softmax_.columns, row};
  }

  const Softmax softmax_;
};

absl::StatusOr<std::unique_ptr<const Kernel>> Make(absl::Span<const int64_t> parameters) {
  if (parameters.size() != 3 || parameters[0] >> 1 != 0 || parameters[1] <= 0 || parameters[2] <= 0) {
    return absl::InvalidArgumentError("expected 3 parameters: bfloat16 (0 or 1), and positive rows and columns");
  }
  return std::make_unique<SoftmaxKernel>(Softmax{parameters[0] != 0, parameters[1], parameters[2]});
}

const bool registered = RegisterKernel(kName, Make);

}  // namespace

KernelSpec Softmax::Spec() const { return {kName, {bfloat16, rows, columns}}; }

}  // namespace hpu::emulator
