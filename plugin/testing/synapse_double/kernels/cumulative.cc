// cumsum_fwd: sums of prefixes or suffixes along an axis.
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/kernels/elementwise.h"
#include "plugin/testing/synapse_double/kernels/families.h"

namespace hpu::synapse_double {
namespace {

void CumulativeSum(KernelContext& context) {
  const auto params = context.params<synapse::ns_CumSumKernel::Params>();
  const Sizes& sizes = context.input(0).sizes;
  if (!context.Require(params.axis >= 0 && params.axis < static_cast<int64_t>(sizes.size()), "axis ", params.axis,
                       " is out of range for rank ", sizes.size())) {
    return;
  }
  if (!context.RequireSizes(context.output(0), sizes, "output 0")) return;
  WithComputeType(context.input(0).type, [&](auto zero) {
    using T = decltype(zero);
    const DenseArray<T> x = Load<T>(context.input(0));
    DenseArray<T> y(sizes);
    const int64_t length = sizes[params.axis];
    const int64_t stride = x.strides()[params.axis];
    for (int64_t i = 0; i < x.count(); ++i) {
      if (i / stride % length != 0) continue;
      T sum{};
      for (int64_t step = 0; step < length; ++step) {
        const int64_t position = i + (params.reverse != 0 ? length - 1 - step : step) * stride;
        const T next = AddWrapped(sum, x[position]);
        y[position] = params.exclusive != 0 ? sum : next;
        sum = next;
      }
    }
    Store(y, context.output(0));
  });
}

}  // namespace

void AddCumulative(KernelRegistry* registry) {
  registry->Add(
      {"cumsum_fwd", Suffix::kType, {1, 1}, {1, 1}, {sizeof(synapse::ns_CumSumKernel::Params)}, CumulativeSum});
}

}  // namespace hpu::synapse_double
