// Tensor view: a tensor in host memory as kernels see it, and loops over its elements.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_TENSOR_VIEW_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_TENSOR_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "plugin/testing/synapse_double/kernels/element_type.h"

namespace hpu::synapse_double {

// One number for each dimension; index 0 is the fastest dimension.
using Sizes = std::vector<int64_t>;

int64_t ElementCount(const Sizes& sizes);
// Strides of an array without gaps.
Sizes DenseStrides(const Sizes& sizes);
// The size of dimension `dimension`; 1 beyond the rank.
int64_t SizeOf(const Sizes& sizes, size_t dimension);
// "{2,3}"
std::string TextOf(const Sizes& sizes);

// Moves `index` to the next element, fastest dimension first. Returns false after the last element.
bool NextIndex(const Sizes& sizes, Sizes* index);
int64_t Dot(const Sizes& index, const Sizes& strides);

// A tensor that the view does not own. A view without data stands for an empty slot of optional operands.
struct TensorView {
  void* data = nullptr;
  ElementType type = ElementType::kNone;
  Sizes sizes;
  Sizes strides;  // in elements

  bool is_present() const { return data != nullptr; }
  size_t rank() const { return sizes.size(); }
  char* At(int64_t offset) const { return static_cast<char*>(data) + offset * static_cast<int64_t>(BytesOf(type)); }
};

// Calls visit(offset in elements) for each element, fastest dimension first.
template <typename Visit>
void ForEachOffset(const Sizes& sizes, const Sizes& strides, const Visit& visit) {
  if (ElementCount(sizes) == 0) return;
  const int64_t inner = SizeOf(sizes, 0);
  const int64_t step = sizes.empty() ? 1 : strides[0];
  Sizes outer_sizes(sizes.begin() + (sizes.empty() ? 0 : 1), sizes.end());
  const Sizes outer_strides(strides.begin() + (sizes.empty() ? 0 : 1), strides.end());
  Sizes index(outer_sizes.size());
  do {
    const int64_t base = Dot(index, outer_strides);
    for (int64_t i = 0; i < inner; ++i) visit(base + i * step);
  } while (NextIndex(outer_sizes, &index));
}

// Fills each element with bytes 0xff: NaN, -1 or the largest unsigned number.
void Poison(const TensorView& view);

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_TENSOR_VIEW_H_
