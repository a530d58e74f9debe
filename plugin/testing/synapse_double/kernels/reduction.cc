// Reductions of one dimension, which keeps size 1, and of several dimensions.
#include "plugin/testing/synapse_double/kernels/reduction.h"

#include <limits>

#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/kernels/elementwise.h"
#include "plugin/testing/synapse_double/kernels/families.h"

namespace hpu::synapse_double {
namespace {

// Which dimensions a node reduces, and whether they stay with size 1.
struct ReducedDimensions {
  std::vector<bool> reduced;
  bool keeps = true;
  int64_t window = 1;  // elements for each result
};

bool ReadDimensions(KernelContext* context, bool is_multi_dim, ReducedDimensions* dimensions) {
  const TensorView& x = context->input(0);
  const auto params = context->params<synapse::ns_Reduction::ParamsV2>({0, true, {}});
  const uint32_t field = params.reductionDimensionMask;
  const uint64_t mask = is_multi_dim ? field : field < 32 ? uint64_t{1} << field : uint64_t{1} << 32;
  if (!context->Require(mask != 0 && mask < uint64_t{1} << x.rank(), is_multi_dim ? "mask " : "dimension ", field,
                        ": the rank is ", x.rank())) {
    return false;
  }
  dimensions->keeps = !is_multi_dim || params.keepDim;
  for (size_t d = 0; d < x.rank(); ++d) {
    dimensions->reduced.push_back((mask >> d & 1) != 0);
    if (dimensions->reduced[d]) dimensions->window *= x.sizes[d];
  }
  return true;
}

bool RequireReducedSizes(KernelContext* context, const ReducedDimensions& dimensions) {
  Sizes sizes;
  for (size_t d = 0; d < dimensions.reduced.size(); ++d) {
    if (!dimensions.reduced[d]) sizes.push_back(context->input(0).sizes[d]);
    if (dimensions.reduced[d] && dimensions.keeps) sizes.push_back(1);
  }
  if (sizes.empty()) sizes = {1};
  return context->RequireSizes(context->output(0), sizes, "output 0");
}

enum class Reduction { kSum, kMean, kProduct, kMax, kMin };

template <typename T>
T Neutral(Reduction reduction) {
  using Limits = std::numeric_limits<T>;
  if (reduction == Reduction::kProduct) return T{1};
  if (reduction == Reduction::kMax) return Limits::has_infinity ? -Limits::infinity() : Limits::min();
  if (reduction == Reduction::kMin) return Limits::has_infinity ? Limits::infinity() : Limits::max();
  return T{0};
}

template <typename T>
T Combine(Reduction reduction, T a, T b, bool lose_nan) {
  if (reduction == Reduction::kProduct) return MultiplyWrapped(a, b);
  if (reduction == Reduction::kMax) return Maximum(a, b, lose_nan);
  if (reduction == Reduction::kMin) return Minimum(a, b, lose_nan);
  return AddWrapped(a, b);
}

template <Reduction reduction, bool is_multi_dim>
void ComputeReduction(KernelContext& context) {
  ReducedDimensions dimensions;
  if (!ReadDimensions(&context, is_multi_dim, &dimensions) || !RequireReducedSizes(&context, dimensions)) return;
  const bool lose_nan = context.switches().lose_nan_in_max_min;
  WithComputeType(context.input(0).type, [&](auto zero) {
    using T = decltype(zero);
    DenseArray<T> y = Reduce(Load<T>(context.input(0)), dimensions.reduced, Neutral<T>(reduction),
                             [&](T a, T b) { return Combine(reduction, a, b, lose_nan); });
    if (reduction == Reduction::kMean) {
      for (int64_t i = 0; i < y.count(); ++i) y[i] = static_cast<T>(y[i] / static_cast<T>(dimensions.window));
    }
    Store(y, context.output(0));
  });
}

// Index of the first extremum in the reduced dimensions, the fastest first. NaN counts as the extremum, unless the
// switch LOSE_NAN is set.
template <bool is_max, bool is_multi_dim>
void ArgExtremum(KernelContext& context) {
  ReducedDimensions dimensions;
  if (!ReadDimensions(&context, is_multi_dim, &dimensions) || !RequireReducedSizes(&context, dimensions)) return;
  const bool lose_nan = context.switches().lose_nan_in_max_min;
  WithComputeType(context.input(0).type, [&](auto zero) {
    using T = decltype(zero);
    const DenseArray<T> x = Load<T>(context.input(0));
    const Sizes sizes = ReducedSizes(x.sizes(), dimensions.reduced);
    DenseArray<T> best(sizes);
    DenseArray<int64_t> indices(sizes, -1);
    ForEachReduced(x.sizes(), dimensions.reduced, [&](int64_t from, int64_t to, int64_t window) {
      const T a = best[to];
      const T b = x[from];
      bool wins = indices[to] < 0 || (is_max ? b > a : b < a);
      if (indices[to] >= 0 && (a != a || b != b)) wins = lose_nan ? a != a && b == b : a == a;
      if (!wins) return;
      best[to] = b;
      indices[to] = window;
    });
    Store(indices, context.output(0));
  });
}

}  // namespace

void AddReductions(KernelRegistry* registry) {
  constexpr size_t kOne = sizeof(synapse::ns_Reduction::Params);
  constexpr size_t kMask = sizeof(synapse::ns_Reduction::ParamsV2);
  const auto add = [&](const char* stem, size_t params, Kernel kernel) {
    registry->Add({stem, Suffix::kType, {1, 1}, {1, 1}, {params}, kernel});
  };
  add("argmax_fwd", kOne, ArgExtremum<true, false>);
  add("argmax_multi_dim_fwd", kMask, ArgExtremum<true, true>);
  add("argmin_fwd", kOne, ArgExtremum<false, false>);
  add("argmin_multi_dim_fwd", kMask, ArgExtremum<false, true>);
  add("reduce_max_fwd", kOne, ComputeReduction<Reduction::kMax, false>);
  add("reduce_max_multi_dim_fwd", kMask, ComputeReduction<Reduction::kMax, true>);
  add("reduce_mean_fwd", kOne, ComputeReduction<Reduction::kMean, false>);
  add("reduce_mean_multi_dim_fwd", kMask, ComputeReduction<Reduction::kMean, true>);
  add("reduce_min_fwd", kOne, ComputeReduction<Reduction::kMin, false>);
  add("reduce_min_multi_dim_fwd", kMask, ComputeReduction<Reduction::kMin, true>);
  add("reduce_prod_fwd", kOne, ComputeReduction<Reduction::kProduct, false>);
  add("reduce_prod_multi_dim_fwd", kMask, ComputeReduction<Reduction::kProduct, true>);
  add("reduce_sum_fwd", kOne, ComputeReduction<Reduction::kSum, false>);
  add("reduce_sum_multi_dim_fwd", kMask, ComputeReduction<Reduction::kSum, true>);
}

}  // namespace hpu::synapse_double
