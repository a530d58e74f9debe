#include "plugin/backends/emulator/kernels/row_windows.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "plugin/backends/emulator/kernels/lanes.h"
#include "plugin/backends/emulator/kernels/parallel.h"
#include "plugin/backends/emulator/kernels/vectorize.h"

namespace hpu::emulator {
namespace {

constexpr char kRowWindowsName[] = "row_windows.1";

struct Work {
  const float* from;
  float* to;
  const RowWindows& sizes;
  int64_t rows;
  float* padded;  // buffer for a row with its padding
};

struct Row {
  const float* padded;
  float* to;
  int64_t window;
};

struct AddWindows {
  template <int n>
  static HPU_INLINE void Run(const Row& row, int64_t lane) {
    float sum[n];
    HPU_SIMD
    for (int i = 0; i < n; ++i) sum[i] = 0;
    for (int64_t k = 0; k < row.window; ++k) {
      const float* from = row.padded + lane + k;
      HPU_SIMD
      for (int i = 0; i < n; ++i) sum[i] += from[i];
    }
    float* const to = row.to + lane;
    HPU_SIMD
    for (int i = 0; i < n; ++i) to[i] = sum[i];
  }
};

HPU_INLINE void AddRows(const Work& work) {
  const auto& [squares, rows, columns, window, before, after] = work.sizes;
  const int64_t results = columns + before + after - window + 1;
  const float* from = work.from;
  Row row{work.padded, work.to, window};
  std::fill_n(work.padded, before, 0.0f);
  std::fill_n(work.padded + before + columns, after, 0.0f);
  float* const middle = work.padded + before;
  for (int64_t r = 0; r < work.rows; ++r, from += columns, row.to += results) {
    if (squares) {
      HPU_SIMD
      for (int64_t c = 0; c < columns; ++c) middle[c] = from[c] * from[c];
    } else {
      std::copy_n(from, columns, middle);
    }
    OverLanes<AddWindows>(row, 0, results);
  }
}

HPU_VECTORIZED(AddWindowsOfRows, Work, AddRows)

class RowWindowsKernel final : public Kernel {
 public:
  explicit RowWindowsKernel(const RowWindows& sizes) : sizes_(sizes) {}

  absl::Status Run(const KernelCall& call) const override {
    const auto* from = static_cast<const float*>(call.operands[0]);
    auto* to = static_cast<float*>(call.results[0]);
    const int64_t padded = sizes_.columns + sizes_.before + sizes_.after, results = padded - sizes_.window + 1;
    RunShards(call.pool, sizes_.rows, ShardSize(results * (sizes_.window + 1)), [&](Shard shard) {
      // Kept per thread, so that not every launch allocates.
      thread_local std::vector<float> row;
      if (static_cast<int64_t>(row.size()) < padded) row.resize(padded);
      AddWindowsOfRows({from + shard.begin * sizes_.columns, to + shard.begin * results, sizes_,
                        shard.end - shard.begin, row.data()});
    });
    return absl::OkStatus();
  }

 private:
  const RowWindows sizes_;
};

absl::StatusOr<std::unique_ptr<const Kernel>> MakeRowWindows(absl::Span<const int64_t> parameters) {
  constexpr int64_t kMax = int64_t{1} << 40;
  if (parameters.size() != 6 || parameters[0] >> 1 != 0 ||
      *std::min_element(parameters.begin() + 1, parameters.begin() + 4) <= 0 || parameters[4] < 0 ||
      parameters[5] < 0 || *std::max_element(parameters.begin(), parameters.end()) > kMax ||
      parameters[3] > parameters[2] + parameters[4] + parameters[5]) {
    return absl::InvalidArgumentError(
        "expected 6 parameters: squares (0 or 1), rows, columns and window (each at least 1), 'before' and 'after' "
        "(each at least 0); all must be at most 2^40, and window at most columns + before + after");
  }
  return std::make_unique<RowWindowsKernel>(
      RowWindows{parameters[0] != 0, parameters[1], parameters[2], parameters[3], parameters[4], parameters[5]});
}

const bool row_windows_registered = RegisterKernel(kRowWindowsName, MakeRowWindows);

}  // namespace

KernelSpec RowWindows::Spec() const { return {kRowWindowsName, {squares, rows, columns, window, before, after}}; }

}  // namespace hpu::emulator
