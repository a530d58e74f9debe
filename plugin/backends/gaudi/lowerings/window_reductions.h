// Reductions of windows by shifted slices: for windows that no pooling kernel computes.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_WINDOW_REDUCTIONS_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_WINDOW_REDUCTIONS_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/backends/common/hlo/window_reduction.h"
#include "plugin/backends/gaudi/plan/padding.h"
#include "plugin/backends/gaudi/plan/plan_builder.h"

namespace hpu::gaudi {

// Windows of each dimension, fastest first.
using Windows = std::vector<hlo::WindowDimension>;

// The windows of `dimensions`, which are in HLO's order (slowest first). A scalar has one window of one element.
Windows WindowsFromFastest(const std::vector<hlo::WindowDimension>& dimensions);

// Padding of an array after which every window lies entirely inside the array.
Padding PaddingOfWindows(const Windows& windows);

// Slices `count` elements of an axis: start, start + step, …
absl::StatusOr<TensorId> SliceAxis(PlanBuilder& builder, TensorId x, size_t axis, int64_t start, int64_t count,
                                   int64_t step);

// An associative and commutative operation on two arrays of equal sizes.
using Combine = std::function<absl::StatusOr<TensorId>(TensorId, TensorId)>;

// Combines the elements of each window of x, which the caller has padded by PaddingOfWindows. Reduces one dimension at
// a time; long windows take a logarithmic number of steps. Fails as PlanBuilder::AddNode does.
absl::StatusOr<TensorId> ReduceWindows(PlanBuilder& builder, TensorId x, const Windows& windows,
                                       const Combine& combine);

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_LOWERINGS_WINDOW_REDUCTIONS_H_
