#include "plugin/backends/emulator/kernels/cumulative.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "plugin/backends/emulator/kernels/formulas.h"
#include "plugin/backends/emulator/kernels/parallel.h"
#include "plugin/backends/emulator/kernels/vectorize.h"

namespace hpu::emulator {
namespace {

using Function = Cumulative::Function;

constexpr char kName[] = "cumulative.2";
// With fewer elements side by side, those of several outer indices are brought together, if each takes long: so many
// elements of so many at a time, which stay in the first-level cache.
constexpr int64_t kLeastInner = 16;
constexpr int64_t kGathered = 64;

// Some columns of one outer index, from the first element to be added on.
struct Work {
  const float* from;
  float* to;
  int64_t stride;  // from element to element; negative in reverse
  int64_t size;
  int64_t columns;
};

struct Add {
  static HPU_INLINE float Of(float a, float b) { return a + b; }
};

struct Multiply {
  static HPU_INLINE float Of(float a, float b) { return a * b; }
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

template <typename F>
HPU_INLINE void Accumulate(const Work& work) {
  const float* from = work.from;
  float* to = work.to;
  for (int64_t c = 0; c < work.columns; ++c) to[c] = from[c];
  for (int64_t i = 1; i < work.size; ++i) {
    from += work.stride;
    const float* const before = to;
    to += work.stride;
    HPU_SIMD
    for (int64_t c = 0; c < work.columns; ++c) to[c] = F::Of(before[c], from[c]);
  }
}

// Sequences of `size` elements, `stride` apart, each from the first element to be added on.
struct Sequences {
  const float* const* from;
  float* const* to;
  int64_t count;
  int64_t stride;
  int64_t size;
};

// At most n sequences at once, side by side.
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

HPU_VECTORIZED(AddColumns, Work, Accumulate<Add>)
HPU_VECTORIZED(MultiplyColumns, Work, Accumulate<Multiply>)
HPU_VECTORIZED(LogAddExpColumns, Work, Accumulate<LogAddExp>)
HPU_VECTORIZED(LogAddExpFewSequences, Sequences, (AccumulateSequences<LogAddExp, 16>))
HPU_VECTORIZED(LogAddExpSequences, Sequences, (AccumulateSequences<LogAddExp, kGathered>))

constexpr void (*kOfColumns[])(const Work&) = {AddColumns, MultiplyColumns, LogAddExpColumns};
constexpr float kNeutral[] = {0.0f, 1.0f, -std::numeric_limits<float>::infinity()};

class CumulativeKernel final : public Kernel {
 public:
  explicit CumulativeKernel(const Cumulative& parameters)
      : parameters_(parameters),
        of_columns_(kOfColumns[static_cast<int64_t>(parameters.function)]),
        neutral_(kNeutral[static_cast<int64_t>(parameters.function)]),
        results_(parameters.size + parameters.from_neutral) {}

  absl::Status Run(const KernelCall& call) const override {
    const auto* x = static_cast<const float*>(call.operands[0]);
    auto* y = static_cast<float*>(call.results[0]);
    if (parameters_.function == Function::kLogAddExp && parameters_.inner < kLeastInner) {
      RunSequences(x, y, call.pool);
    } else {
      RunColumns(x, y, call.pool);
    }
    return absl::OkStatus();
  }

 private:
  int64_t stride() const { return parameters_.reverse ? -parameters_.inner : parameters_.inner; }
  // The element of an outer index at which the first one lies, and its result.
  int64_t First() const { return parameters_.reverse ? (parameters_.size - 1) * parameters_.inner : 0; }
  int64_t FirstResult() const { return parameters_.from_neutral && !parameters_.reverse ? parameters_.inner : First(); }
  int64_t NeutralResult() const { return parameters_.reverse ? parameters_.size * parameters_.inner : 0; }

  void RunColumns(const float* x, float* y, ComputePool& pool) const {
    // A piece of a row that stays in the first-level cache from element to element.
    const int64_t columns = std::min<int64_t>(parameters_.inner, 1024),
                  pieces = (parameters_.inner + columns - 1) / columns;
    RunShards(pool, parameters_.outer * pieces, ShardSize(parameters_.size * columns * 8), [&](Shard shard) {
      for (int64_t i = shard.begin; i < shard.end; ++i) {
        const int64_t begin = i % pieces * columns;
        RunPiece(x, y, i / pieces, begin, std::min(columns, parameters_.inner - begin));
      }
    });
  }

  void RunPiece(const float* x, float* y, int64_t outer, int64_t begin, int64_t columns) const {
    x += outer * parameters_.size * parameters_.inner + begin;
    y += outer * results_ * parameters_.inner + begin;
    if (parameters_.from_neutral) std::fill_n(y + NeutralResult(), columns, neutral_);
    of_columns_({x + First(), y + FirstResult(), stride(), parameters_.size, columns});
  }

  void RunSequences(const float* x, float* y, ComputePool& pool) const {
    const int64_t total = parameters_.outer * parameters_.inner, at_once = total <= 16 ? 16 : kGathered;
    RunShards(pool, (total + at_once - 1) / at_once, ShardSize(parameters_.size * at_once * 8), [&](Shard shard) {
      for (int64_t i = shard.begin; i < shard.end; ++i) {
        RunSomeSequences(x, y, i * at_once, std::min(at_once, total - i * at_once));
      }
    });
  }

  void RunSomeSequences(const float* x, float* y, int64_t first, int64_t count) const {
    const float* from[kGathered];
    float* to[kGathered];
    for (int64_t s = 0; s < count; ++s) {
      const int64_t outer = (first + s) / parameters_.inner, column = (first + s) % parameters_.inner;
      from[s] = x + outer * parameters_.size * parameters_.inner + column + First();
      float* const results = y + outer * results_ * parameters_.inner + column;
      to[s] = results + FirstResult();
      if (parameters_.from_neutral) results[NeutralResult()] = neutral_;
    }
    const Sequences sequences{from, to, count, stride(), parameters_.size};
    count <= 16 ? LogAddExpFewSequences(sequences) : LogAddExpSequences(sequences);
  }

  const Cumulative parameters_;
  void (*const of_columns_)(const Work&);
  const float neutral_;
  const int64_t results_;
};

absl::StatusOr<std::unique_ptr<const Kernel>> Make(absl::Span<const int64_t> parameters) {
  if (parameters.size() != 6 || parameters[0] < 0 || parameters[0] >= Cumulative::kFunctions ||
      parameters[1] >> 1 != 0 || parameters[2] >> 1 != 0 ||
      *std::min_element(parameters.begin() + 3, parameters.end()) <= 0) {
    return absl::InvalidArgumentError("not the parameters of a cumulative sum or product");
  }
  return std::make_unique<CumulativeKernel>(Cumulative{static_cast<Function>(parameters[0]), parameters[1] != 0,
                                                       parameters[2] != 0, parameters[3], parameters[4],
                                                       parameters[5]});
}

const bool registered = RegisterKernel(kName, Make);

}  // namespace

KernelSpec Cumulative::Spec() const {
  return {kName, {static_cast<int64_t>(function), reverse, from_neutral, outer, size, inner}};
}

}  // namespace hpu::emulator
