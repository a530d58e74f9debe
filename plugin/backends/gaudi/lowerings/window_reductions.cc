#include "plugin/backends/gaudi/lowerings/window_reductions.h"

#include <cstdint>

#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/base/status_macros.h"

namespace hpu::gaudi {
namespace {

// Combines one slice for each element of a window.
absl::StatusOr<TensorId> CombineSlices(PlanBuilder& builder, TensorId x, size_t axis, const hlo::WindowDimension& d,
                                       const Combine& combine) {
  HPU_ASSIGN_OR_RETURN(TensorId value, SliceAxis(builder, x, axis, 0, d.output, d.stride));
  for (int64_t k = 1; k < d.window; ++k) {
    HPU_ASSIGN_OR_RETURN(const TensorId next, SliceAxis(builder, x, axis, k * d.dilation, d.output, d.stride));
    HPU_ASSIGN_OR_RETURN(value, combine(value, next));
  }
  return value;
}

// Combines windows of 1, 2, 4, … elements with stride 1. Then combines the windows that add up to the full window.
absl::StatusOr<TensorId> CombineDoubled(PlanBuilder& builder, TensorId x, size_t axis, const hlo::WindowDimension& d,
                                        const Combine& combine) {
  const int64_t count = (d.output - 1) * d.stride + 1;  // windows with stride 1
  TensorId value = kNoTensor;
  int64_t covered = 0;  // elements of each window that `value` combines
  TensorId doubled = x;
  for (int64_t size = 1; size <= d.window; size *= 2) {
    if ((d.window & size) != 0) {
      HPU_ASSIGN_OR_RETURN(const TensorId part, SliceAxis(builder, doubled, axis, covered * d.dilation, count, 1));
      if (covered == 0) {
        value = part;
      } else {
        HPU_ASSIGN_OR_RETURN(value, combine(value, part));
      }
      covered += size;
    }
    if (2 * size > d.window) break;
    const int64_t length = static_cast<int64_t>(builder.sizes(doubled)[axis]) - size * d.dilation;
    HPU_ASSIGN_OR_RETURN(const TensorId low, SliceAxis(builder, doubled, axis, 0, length, 1));
    HPU_ASSIGN_OR_RETURN(const TensorId high, SliceAxis(builder, doubled, axis, size * d.dilation, length, 1));
    HPU_ASSIGN_OR_RETURN(doubled, combine(low, high));
  }
  return SliceAxis(builder, value, axis, 0, d.output, d.stride);
}

// Whether combining doubled windows reads fewer elements than combining slices.
bool IsDoublingCheaper(const hlo::WindowDimension& d, int64_t length) {
  int64_t steps = 0;
  for (int64_t size = 1; size <= d.window; size *= 2) ++steps;
  return 2 * steps * length < d.window * d.output;
}

}  // namespace

Windows WindowsFromFastest(const std::vector<hlo::WindowDimension>& dimensions) {
  Windows windows(dimensions.rbegin(), dimensions.rend());
  if (windows.empty()) windows.emplace_back();
  return windows;
}

Padding PaddingOfWindows(const Windows& windows) {
  Padding padding(windows.size());
  for (size_t i = 0; i < windows.size(); ++i) {
    padding.low[i] = windows[i].pad_low;
    padding.high[i] = windows[i].pad_high;
    padding.steps[i] = windows[i].base_dilation;
  }
  return padding;
}

absl::StatusOr<TensorId> SliceAxis(PlanBuilder& builder, TensorId x, size_t axis, int64_t start, int64_t count,
                                   int64_t step) {
  std::vector<uint64_t> starts(builder.sizes(x).size(), 0);
  std::vector<uint64_t> ends = builder.sizes(x);
  std::vector<uint64_t> steps(starts.size(), 1);
  starts[axis] = start;
  ends[axis] = start + (count - 1) * step + 1;
  steps[axis] = step;
  return Slice(builder, x, starts, ends, steps);
}

absl::StatusOr<TensorId> ReduceWindows(PlanBuilder& builder, TensorId x, const Windows& windows,
                                       const Combine& combine) {
  for (size_t axis = 0; axis < windows.size(); ++axis) {
    const hlo::WindowDimension& d = windows[axis];
    const auto length = static_cast<int64_t>(builder.sizes(x)[axis]);
    const auto reduce = IsDoublingCheaper(d, length) ? CombineDoubled : CombineSlices;
    HPU_ASSIGN_OR_RETURN(x, reduce(builder, x, axis, d, combine));
  }
  return x;
}

}  // namespace hpu::gaudi
