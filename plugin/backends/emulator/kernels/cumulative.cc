#include "plugin/backends/emulator/kernels/cumulative.h"

#include <algorithm>
#include <memory>

#include "plugin/backends/emulator/kernels/parallel.h"
#include "plugin/backends/emulator/kernels/vectorize.h"

namespace hpu::emulator {
namespace {

constexpr char kName[] = "cumulative.1";

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

HPU_VECTORIZED(AddColumns, Work, Accumulate<Add>)
HPU_VECTORIZED(MultiplyColumns, Work, Accumulate<Multiply>)

class CumulativeKernel final : public Kernel {
 public:
  explicit CumulativeKernel(const Cumulative& parameters) : parameters_(parameters) {}

  absl::Status Run(const KernelCall& call) const override {
    const auto* x = static_cast<const float*>(call.operands[0]);
    auto* y = static_cast<float*>(call.results[0]);
    // A piece of a row that stays in the first-level cache from element to element.
    const int64_t columns = std::min<int64_t>(parameters_.inner, 1024),
                  pieces = (parameters_.inner + columns - 1) / columns;
    RunShards(call.pool, parameters_.outer * pieces, ShardSize(parameters_.size * columns * 8), [&](Shard shard) {
      for (int64_t i = shard.begin; i < shard.end; ++i) {
        const int64_t begin = i % pieces * columns;
        RunPiece(x, y, i / pieces, begin, std::min(columns, parameters_.inner - begin));
      }
    });
    return absl::OkStatus();
  }

 private:
  void RunPiece(const float* x, float* y, int64_t outer, int64_t begin, int64_t columns) const {
    const int64_t results = parameters_.size + parameters_.from_neutral;
    x += outer * parameters_.size * parameters_.inner + begin;
    y += outer * results * parameters_.inner + begin;
    if (parameters_.from_neutral) {
      std::fill_n(parameters_.reverse ? y + parameters_.size * parameters_.inner : y, columns,
                  parameters_.product ? 1.0f : 0.0f);
      if (!parameters_.reverse) y += parameters_.inner;
    }
    const int64_t last = (parameters_.size - 1) * parameters_.inner;
    const auto accumulate = parameters_.product ? MultiplyColumns : AddColumns;
    if (parameters_.reverse) return accumulate({x + last, y + last, -parameters_.inner, parameters_.size, columns});
    accumulate({x, y, parameters_.inner, parameters_.size, columns});
  }

  const Cumulative parameters_;
};

absl::StatusOr<std::unique_ptr<const Kernel>> Make(absl::Span<const int64_t> parameters) {
  if (parameters.size() != 6 || parameters[0] >> 1 != 0 || parameters[1] >> 1 != 0 || parameters[2] >> 1 != 0 ||
      *std::min_element(parameters.begin() + 3, parameters.end()) <= 0) {
    return absl::InvalidArgumentError("not the parameters of a cumulative sum or product");
  }
  return std::make_unique<CumulativeKernel>(Cumulative{parameters[0] != 0, parameters[1] != 0, parameters[2] != 0,
                                                       parameters[3], parameters[4], parameters[5]});
}

const bool registered = RegisterKernel(kName, Make);

}  // namespace

KernelSpec Cumulative::Spec() const { return {kName, {product, reverse, from_neutral, outer, size, inner}}; }

}  // namespace hpu::emulator
