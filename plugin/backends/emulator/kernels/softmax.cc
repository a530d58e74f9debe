#include "plugin/backends/emulator/kernels/softmax.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "plugin/backends/emulator/kernels/lanes.h"
#include "plugin/backends/emulator/kernels/parallel.h"
#include "plugin/backends/emulator/kernels/vectorize.h"

namespace hpu::emulator {
namespace {

constexpr char kName[] = "softmax.1";
// As many as OverLanes takes at once: each has a maximum and a sum of its own.
constexpr int kLanes = 64;

struct Work {
  const float* from;
  float* to;
  int64_t rows;
  int64_t columns;
};

struct Row {
  const float* from;
  float* to;
  float* lanes;
  float value;  // what is subtracted, or what is multiplied by
};

// e^x for x <= 0 and NaN, to two units in the last place; 0 where that would be denormal.
HPU_INLINE float Exp(float x) {
  constexpr float kLeast = -87.336544f;  // the logarithm of 2^-126
  constexpr float kLog2E = 1.44269504f, kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  // Added, it leaves a number's nearest integer in the last bits.
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23
  union {
    float value;
    int32_t bits;
  } shifted, power;
  const float bounded = x < kLeast ? kLeast : x;
  shifted.value = bounded * kLog2E + kRound;
  const float n = shifted.value - kRound;
  const float r = (bounded - n * kLn2High) - n * kLn2Low;
  // Of e^r on [-ln 2 / 2, ln 2 / 2]: the minimax polynomial of the Cephes library.
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  // kRound's own bits leave by the shift.
  power.bits = static_cast<int32_t>((static_cast<uint32_t>(shifted.bits) + 127u) << 23);
  const float result = p * power.value;
  return x < kLeast ? 0.0f : result;
}

// Not of a NaN: then `b`.
HPU_INLINE float Greater(float a, float b) { return a > b ? a : b; }

struct Greatest {
  template <int n>
  static HPU_INLINE void Run(const Row& row, int64_t lane) {
    HPU_SIMD
    for (int i = 0; i < n; ++i) {
      row.lanes[i] = Greater(row.from[lane + i], row.lanes[i]);
    }
  }
};

struct AddExp {
  template <int n>
  static HPU_INLINE void Run(const Row& row, int64_t lane) {
    HPU_SIMD
    for (int i = 0; i < n; ++i) {
      const float value = Exp(row.from[lane + i] - row.value);
      row.to[lane + i] = value;
      row.lanes[i] += value;
    }
  }
};

struct Scale {
  template <int n>
  static HPU_INLINE void Run(const Row& row, int64_t lane) {
    HPU_SIMD
    for (int i = 0; i < n; ++i) row.to[lane + i] *= row.value;
  }
};

HPU_INLINE float Sum(float a, float b) { return a + b; }

// Of all lanes in lane 0, by halves: one after the other they would take longer than a short row does.
template <int n, float (*combine)(float, float)>
HPU_INLINE void Fold(float* lanes) {
  HPU_SIMD
  for (int i = 0; i < n / 2; ++i) lanes[i] = combine(lanes[i], lanes[i + n / 2]);
  if constexpr (n > 2) Fold<n / 2, combine>(lanes);
}

HPU_INLINE void Rows(const Work& work) {
  float lanes[kLanes];
  Row row{work.from, work.to, lanes, 0};
  for (int64_t i = 0; i < work.rows; ++i, row.from += work.columns, row.to += work.columns) {
    std::fill_n(lanes, kLanes, -std::numeric_limits<float>::infinity());
    OverLanes<Greatest>(row, 0, work.columns);
    // It passes NaNs by, which then come into the sum.
    Fold<kLanes, Greater>(lanes);
    row.value = lanes[0];
    std::fill_n(lanes, kLanes, 0.0f);
    OverLanes<AddExp>(row, 0, work.columns);
    Fold<kLanes, Sum>(lanes);
    row.value = 1.0f / lanes[0];
    OverLanes<Scale>(row, 0, work.columns);
  }
}

HPU_VECTORIZED(RunRows, Work, Rows)

class SoftmaxKernel final : public Kernel {
 public:
  explicit SoftmaxKernel(const Softmax& softmax) : softmax_(softmax) {}

  absl::Status Run(const KernelCall& call) const override {
    const auto* from = static_cast<const float*>(call.operands[0]);
    auto* to = static_cast<float*>(call.results[0]);
    const int64_t columns = softmax_.columns;
    RunShards(call.pool, softmax_.rows, ShardSize(16 * columns), [&](Shard shard) {
      RunRows({from + shard.begin * columns, to + shard.begin * columns, shard.end - shard.begin, columns});
    });
    return absl::OkStatus();
  }

 private:
  const Softmax softmax_;
};

absl::StatusOr<std::unique_ptr<const Kernel>> Make(absl::Span<const int64_t> parameters) {
  if (parameters.size() != 2 || parameters[0] <= 0 || parameters[1] <= 0) {
    return absl::InvalidArgumentError("not the sizes of a softmax");
  }
  return std::make_unique<SoftmaxKernel>(Softmax{parameters[0], parameters[1]});
}

const bool registered = RegisterKernel(kName, Make);

}  // namespace

KernelSpec Softmax::Spec() const { return {kName, {rows, columns}}; }

}  // namespace hpu::emulator
