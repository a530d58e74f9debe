#include "plugin/backends/emulator/kernels/cumulative_sum.h"

#include <algorithm>
#include <memory>

#include "plugin/backends/emulator/kernels/parallel.h"
#include "plugin/backends/emulator/kernels/vectorize.h"

namespace hpu::emulator {
namespace {

constexpr char kName[] = "cumulative_sum.1";

// Some columns of one outer index, from the first element to be added on.
struct Work {
  const float* from;
  float* to;
  int64_t stride;  // from element to element; negative in reverse
  int64_t size;
  int64_t columns;
};

HPU_INLINE void Sum(const Work& work) {
  const float* from = work.from;
  float* to = work.to;
  for (int64_t c = 0; c < work.columns; ++c) to[c] = from[c];
  for (int64_t i = 1; i < work.size; ++i) {
    from += work.stride;
    const float* const before = to;
    to += work.stride;
    HPU_SIMD
    for (int64_t c = 0; c < work.columns; ++c) to[c] = before[c] + from[c];
  }
}

HPU_VECTORIZED(SumColumns, Work, Sum)

class CumulativeSumKernel final : public Kernel {
 public:
  explicit CumulativeSumKernel(const CumulativeSum& sum) : sum_(sum) {}

  absl::Status Run(const KernelCall& call) const override {
    const auto* x = static_cast<const float*>(call.operands[0]);
    auto* y = static_cast<float*>(call.results[0]);
    // A piece of a row that stays in the first-level cache from element to element.
    const int64_t columns = std::min<int64_t>(sum_.inner, 1024), pieces = (sum_.inner + columns - 1) / columns;
    RunShards(call.pool, sum_.outer * pieces, ShardSize(sum_.size * columns * 8), [&](Shard shard) {
      for (int64_t i = shard.begin; i < shard.end; ++i) {
        const int64_t begin = i % pieces * columns;
        RunPiece(x, y, i / pieces, begin, std::min(columns, sum_.inner - begin));
      }
    });
    return absl::OkStatus();
  }

 private:
  void RunPiece(const float* x, float* y, int64_t outer, int64_t begin, int64_t columns) const {
    const int64_t results = sum_.size + sum_.from_zero;
    x += outer * sum_.size * sum_.inner + begin;
    y += outer * results * sum_.inner + begin;
    if (sum_.from_zero) {
      std::fill_n(sum_.reverse ? y + sum_.size * sum_.inner : y, columns, 0.0f);
      if (!sum_.reverse) y += sum_.inner;
    }
    const int64_t last = (sum_.size - 1) * sum_.inner;
    if (sum_.reverse) return SumColumns({x + last, y + last, -sum_.inner, sum_.size, columns});
    SumColumns({x, y, sum_.inner, sum_.size, columns});
  }

  const CumulativeSum sum_;
};

absl::StatusOr<std::unique_ptr<const Kernel>> Make(absl::Span<const int64_t> parameters) {
  if (parameters.size() != 5 || parameters[0] >> 1 != 0 || parameters[1] >> 1 != 0 ||
      *std::min_element(parameters.begin() + 2, parameters.end()) <= 0) {
    return absl::InvalidArgumentError("not the parameters of a cumulative sum");
  }
  return std::make_unique<CumulativeSumKernel>(
      CumulativeSum{parameters[0] != 0, parameters[1] != 0, parameters[2], parameters[3], parameters[4]});
}

const bool registered = RegisterKernel(kName, Make);

}  // namespace

KernelSpec CumulativeSum::Spec() const { return {kName, {reverse, from_zero, outer, size, inner}}; }

}  // namespace hpu::emulator
