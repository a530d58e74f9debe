#include "plugin/backends/emulator/kernels/cumulative.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>

#include "plugin/backends/emulator/kernels/formulas.h"
#include "plugin/backends/emulator/kernels/parallel.h"
#include "plugin/backends/emulator/kernels/vectorize.h"

namespace hpu::emulator {
namespace {

using Function = Cumulative::Function;

constexpr char kName[] = "cumulative.4";
// With fewer than kMinInner adjacent elements, kLogAddExp gathers the sequences of several outer indices. A block of up
// to kGathered elements of kGathered sequences stays in the first-level cache.
constexpr int64_t kMinInner = 16;
constexpr int64_t kGathered = 64;

// `columns` adjacent sequences of one outer index. Pointers point to the element that is accumulated first.
template <typename T>
struct Work {
  const T* from;
  T* to;
  int64_t stride;  // distance between elements; negative for a reverse scan
  int64_t size;
  int64_t columns;
};

struct Add {
  template <typename T>
  static HPU_INLINE T Of(T a, T b) {
    return a + b;
  }
};

struct Multiply {
  template <typename T>
  static HPU_INLINE T Of(T a, T b) {
    return a * b;
  }
};

// log(e^a + e^b).
struct LogAddExp {
  static HPU_INLINE float Of(float a, float b) {
    const float greater = a > b ? a : b, less = a > b ? b : a;
    const float sum = greater + LogOfOneAnd(Exp(less - greater));
    const float bounded = Magnitude(greater) == std::numeric_limits<float>::infinity() ? greater : sum;
    return (a != a) | (b != b) ? a + b : bounded;
  }
};

template <typename T, typename F>
HPU_INLINE void Accumulate(const Work<T>& work) {
  const T* from = work.from;
  T* to = work.to;
  for (int64_t c = 0; c < work.columns; ++c) to[c] = from[c];
  for (int64_t i = 1; i < work.size; ++i) {
    from += work.stride;
    const T* const before = to;
    to += work.stride;
    HPU_SIMD
    for (int64_t c = 0; c < work.columns; ++c) to[c] = F::Of(before[c], from[c]);
  }
}

// Like Accumulate, but for one sequence, whose running value stays in a register.
template <typename T, typename F>
void AccumulateColumn(const T* from, T* to, int64_t stride, int64_t size) {
  T last = to[0] = from[0];
  for (int64_t i = 1; i < size; ++i) {
    last = F::Of(last, from[i * stride]);
    to[i * stride] = last;
  }
}

// Sequences of `size` elements, `stride` apart. Pointers point to the element that is accumulated first.
struct Sequences {
  const float* const* from;
  float* const* to;
  int64_t count;
  int64_t stride;
  int64_t size;
};

// Accumulates at most n sequences in parallel.
template <typename F, int n>
HPU_INLINE void AccumulateSequences(const Sequences& work) {
  float block[kGathered][n];
  float last[n] = {};
  for (int64_t begin = 0; begin < work.size; begin += kGathered) {
    const int64_t size = std::min(kGathered, work.size - begin), offset = begin * work.stride;
    for (int64_t s = 0; s < n; ++s) {
      const float* const from = work.from[std::min(s, work.count - 1)] + offset;
      for (int64_t i = 0; i < size; ++i) block[i][s] = from[i * work.stride];
    }
    if (begin == 0) std::copy_n(block[0], n, last);
    for (int64_t i = begin == 0 ? 1 : 0; i < size; ++i) {
      HPU_SIMD
      for (int64_t s = 0; s < n; ++s) last[s] = F::Of(last[s], block[i][s]);
      std::copy_n(last, n, block[i]);
    }
    for (int64_t s = 0; s < work.count; ++s) {
      float* const to = work.to[s] + offset;
      for (int64_t i = 0; i < size; ++i) to[i * work.stride] = block[i][s];
    }
  }
}

HPU_VECTORIZED(AddFloats, Work<float>, (Accumulate<float, Add>))
HPU_VECTORIZED(MultiplyFloats, Work<float>, (Accumulate<float, Multiply>))
HPU_VECTORIZED(LogAddExpFloats, Work<float>, (Accumulate<float, LogAddExp>))
HPU_VECTORIZED(AddDoubles, Work<double>, (Accumulate<double, Add>))
HPU_VECTORIZED(MultiplyDoubles, Work<double>, (Accumulate<double, Multiply>))
HPU_VECTORIZED(AddIntegers, Work<uint32_t>, (Accumulate<uint32_t, Add>))
HPU_VECTORIZED(MultiplyIntegers, Work<uint32_t>, (Accumulate<uint32_t, Multiply>))
HPU_VECTORIZED(LogAddExpFewSequences, Sequences, (AccumulateSequences<LogAddExp, 16>))
HPU_VECTORIZED(LogAddExpSequences, Sequences, (AccumulateSequences<LogAddExp, kGathered>))

// The tables below are indexed by Function.
template <typename T>
struct OfColumns {
  void (*run)(const Work<T>&);
  T neutral;
  void (*run_one)(const T* from, T* to, int64_t stride, int64_t size);
};
constexpr OfColumns<float> kOfFloats[] = {
    {AddFloats, 0.0f, AccumulateColumn<float, Add>},
    {MultiplyFloats, 1.0f, AccumulateColumn<float, Multiply>},
    {LogAddExpFloats, -std::numeric_limits<float>::infinity(), AccumulateColumn<float, LogAddExp>}};
constexpr OfColumns<double> kOfDoubles[] = {{AddDoubles, 0.0, AccumulateColumn<double, Add>},
                                            {MultiplyDoubles, 1.0, AccumulateColumn<double, Multiply>}};
constexpr OfColumns<uint32_t> kOfIntegers[] = {{AddIntegers, 0, AccumulateColumn<uint32_t, Add>},
                                               {MultiplyIntegers, 1, AccumulateColumn<uint32_t, Multiply>}};

class CumulativeKernel final : public Kernel {
 public:
  explicit CumulativeKernel(const Cumulative& parameters)
      : parameters_(parameters), results_(parameters.size + parameters.from_neutral) {}

  absl::Status Run(const KernelCall& call) const override {
    const auto function = static_cast<int64_t>(parameters_.function);
    if (parameters_.type == NumberType::kInt32) {
      RunColumns(kOfIntegers[function], call);
    } else if (parameters_.type == NumberType::kFloat64) {
      RunColumns(kOfDoubles[function], call);
    } else if (parameters_.function == Function::kLogAddExp && parameters_.inner < kMinInner) {
      RunSequences(call);
    } else {
      RunColumns(kOfFloats[function], call);
    }
    return absl::OkStatus();
  }

 private:
  int64_t stride() const { return parameters_.reverse ? -parameters_.inner : parameters_.inner; }
  // Offsets, within an outer index, of the first element and of its result.
  int64_t First() const { return parameters_.reverse ? (parameters_.size - 1) * parameters_.inner : 0; }
  int64_t FirstResult() const { return parameters_.from_neutral && !parameters_.reverse ? parameters_.inner : First(); }
  int64_t NeutralResult() const { return parameters_.reverse ? parameters_.size * parameters_.inner : 0; }

  template <typename T>
  void RunColumns(const OfColumns<T>& function, const KernelCall& call) const {
    // Columns whose running values stay in the first-level cache.
    const int64_t columns = std::min<int64_t>(parameters_.inner, 1024),
                  pieces = (parameters_.inner + columns - 1) / columns;
    RunShards(call.pool, parameters_.outer * pieces, ShardSize(parameters_.size * columns * 8), [&](Shard shard) {
      for (int64_t i = shard.begin; i < shard.end; ++i) {
        const int64_t begin = i % pieces * columns;
        RunPiece(function, static_cast<const T*>(call.operands[0]), static_cast<T*>(call.results[0]), i / pieces, begin,
                 std::min(columns, parameters_.inner - begin));
      }
    });
  }

  template <typename T>
  void RunPiece(const OfColumns<T>& function, const T* x, T* y, int64_t outer, int64_t begin, int64_t columns) const {
    x += outer * parameters_.size * parameters_.inner + begin;
    y += outer * results_ * parameters_.inner + begin;
    if (parameters_.from_neutral) std::fill_n(y + NeutralResult(), columns, function.neutral);
    if (parameters_.inner == 1) {
      function.run_one(x + First(), y + FirstResult(), stride(), parameters_.size);
    } else {
      function.run({x + First(), y + FirstResult(), stride(), parameters_.size, columns});
    }
  }

  void RunSequences(const KernelCall& call) const {
    const auto* x = static_cast<const float*>(call.operands[0]);
    auto* y = static_cast<float*>(call.results[0]);
    const int64_t total = parameters_.outer * parameters_.inner, at_once = total <= 16 ? 16 : kGathered;
    RunShards(call.pool, (total + at_once - 1) / at_once, ShardSize(parameters_.size * at_once * 8), [&](Shard shard) {
      for (int64_t i = shard.begin; i < shard.end; ++i) {
        RunSomeSequences(x, y, i * at_once, std::min(at_once, total - i * at_once));
      }
    });
  }

  void RunSomeSequences(const float* x, float* y, int64_t first, int64_t count) const {
    const float* from[kGathered];
    float* to[kGathered];
    const float neutral = kOfFloats[static_cast<int64_t>(Function::kLogAddExp)].neutral;
    for (int64_t s = 0; s < count; ++s) {
      const int64_t outer = (first + s) / parameters_.inner, column = (first + s) % parameters_.inner;
      from[s] = x + outer * parameters_.size * parameters_.inner + column + First();
      float* const results = y + outer * results_ * parameters_.inner + column;
      to[s] = results + FirstResult();
      if (parameters_.from_neutral) results[NeutralResult()] = neutral;
    }
    const Sequences sequences{from, to, count, stride(), parameters_.size};
    count <= 16 ? LogAddExpFewSequences(sequences) : LogAddExpSequences(sequences);
  }

  const Cumulative parameters_;
  const int64_t results_;
};

absl::StatusOr<std::unique_ptr<const Kernel>> Make(absl::Span<const int64_t> parameters) {
  if (parameters.size() != 7 || parameters[0] < 0 || parameters[0] >= Cumulative::kFunctions || parameters[1] < 0 ||
      parameters[1] >= kNumberTypes || parameters[2] >> 1 != 0 || parameters[3] >> 1 != 0 ||
      *std::min_element(parameters.begin() + 4, parameters.end()) <= 0 ||
      (parameters[1] != 0 && parameters[0] == static_cast<int64_t>(Function::kLogAddExp))) {
    return absl::InvalidArgumentError(
        "expected 7 parameters: function (0: add, 1: multiply, 2: log-add-exp), type (0: float32, 1: int32, 2: "
        "float64), reverse and from_neutral (0 or 1), and positive outer, size and inner; function 2 requires type 0");
  }
  return std::make_unique<CumulativeKernel>(
      Cumulative{static_cast<Function>(parameters[0]), static_cast<NumberType>(parameters[1]), parameters[2] != 0,
                 parameters[3] != 0, parameters[4], parameters[5], parameters[6]});
}

const bool registered = RegisterKernel(kName, Make);

}  // namespace

KernelSpec Cumulative::Spec() const {
  return {kName,
          {static_cast<int64_t>(function), static_cast<int64_t>(type), reverse, from_neutral, outer, size, inner}};
}

}  // namespace hpu::emulator
