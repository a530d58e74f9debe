// Loop of reductions over several dimensions.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_REDUCTION_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_REDUCTION_H_

#include <cstdint>
#include <vector>

#include "plugin/testing/synapse_double/kernels/dense_array.h"

namespace hpu::synapse_double {

// Sizes with 1 for the reduced dimensions.
inline Sizes ReducedSizes(Sizes sizes, const std::vector<bool>& reduced) {
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (reduced[i]) sizes[i] = 1;
  }
  return sizes;
}

// Calls visit(position in the array, position in the reduced array, position in the window) for each element of an
// array of `sizes`. The window is the reduced dimensions, the fastest first.
template <typename Visit>
void ForEachReduced(const Sizes& sizes, const std::vector<bool>& reduced, const Visit& visit) {
  Sizes strides = DenseStrides(ReducedSizes(sizes, reduced));
  Sizes window_sizes = sizes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (reduced[i]) {
      strides[i] = 0;
    } else {
      window_sizes[i] = 1;
    }
  }
  Sizes window_strides = DenseStrides(window_sizes);
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!reduced[i]) window_strides[i] = 0;
  }
  const int64_t count = ElementCount(sizes);
  Sizes index(sizes.size());
  for (int64_t i = 0; i < count; ++i) {
    visit(i, Dot(index, strides), Dot(index, window_strides));
    NextIndex(sizes, &index);
  }
}

// Combines the elements along the reduced dimensions, which keep size 1.
template <typename T, typename Combine>
DenseArray<T> Reduce(const DenseArray<T>& x, const std::vector<bool>& reduced, T initial, const Combine& combine) {
  DenseArray<T> result(ReducedSizes(x.sizes(), reduced), initial);
  ForEachReduced(x.sizes(), reduced,
                 [&](int64_t from, int64_t to, int64_t) { result[to] = combine(result[to], x[from]); });
  return result;
}

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_REDUCTION_H_
