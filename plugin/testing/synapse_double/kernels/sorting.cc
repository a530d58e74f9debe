// topk: the largest or smallest elements along an axis, in order, and their indices.
//
// Equal elements keep their order. NaN counts as larger than any number, -0 as equal to 0: a card's order is unknown.
#include <algorithm>
#include <numeric>

#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/kernels/dense_array.h"
#include "plugin/testing/synapse_double/kernels/families.h"

namespace hpu::synapse_double {
namespace {

template <typename T>
bool IsLess(T a, T b) {
  if (a != a) return false;
  if (b != b) return true;
  return a < b;
}

// X -> values, indices. The first version of the params takes dimension 0 and the largest elements.
void TopK(KernelContext& context) {
  const auto params = context.params<synapse::ns_TopkNodeV2::ParamsV4>();
  const Sizes& sizes = context.input(0).sizes;
  const uint32_t axis = params.axis;
  if (!context.Require(axis < sizes.size(), "axis ", axis, " is out of range for rank ", sizes.size())) return;
  if (!context.Require(params.bsw >= 1 && params.bsw <= sizes[axis], "bsw ", params.bsw, ": axis ", axis, " of ",
                       TextOf(sizes), " has other sizes")) {
    return;
  }
  Sizes result_sizes = sizes;
  result_sizes[axis] = params.bsw;
  if (!context.RequireSizes(context.output(0), result_sizes, "output 0")) return;
  if (context.has_output(1) && !context.RequireSizes(context.output(1), result_sizes, "output 1")) return;
  WithComputeType(context.input(0).type, [&](auto zero) {
    using T = decltype(zero);
    const DenseArray<T> x = Load<T>(context.input(0));
    DenseArray<T> values(result_sizes);
    DenseArray<int64_t> indices(result_sizes);
    const int64_t stride = x.strides()[axis];
    Sizes rows = sizes;
    rows[axis] = 1;
    Sizes row(rows.size());
    std::vector<int64_t> order(sizes[axis]);
    if (ElementCount(rows) == 0) return;
    do {
      const int64_t from = Dot(row, x.strides());
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
        const T a = x[from + i * stride];
        const T b = x[from + j * stride];
        return params.bottomK ? IsLess(a, b) : IsLess(b, a);
      });
      const int64_t to = Dot(row, values.strides());
      for (int64_t i = 0; i < params.bsw; ++i) {
        values[to + i * stride] = x[from + order[i] * stride];
        indices[to + i * stride] = order[i];
      }
    } while (NextIndex(rows, &row));
    Store(values, context.output(0));
    if (context.has_output(1)) Store(indices, context.output(1));
  });
}

}  // namespace

void AddSorting(KernelRegistry* registry) {
  namespace topk = synapse::ns_TopkNodeV2;
  registry->Add({"topk",
                 Suffix::kNone,
                 {1, 1},
                 {1, 2},
                 {sizeof(topk::Params), sizeof(topk::ParamsV2), sizeof(topk::ParamsV3), sizeof(topk::ParamsV4)},
                 TopK});
}

}  // namespace hpu::synapse_double
