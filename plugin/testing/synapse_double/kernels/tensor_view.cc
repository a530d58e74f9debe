#include "plugin/testing/synapse_double/kernels/tensor_view.h"

#include <cstring>

namespace hpu::synapse_double {

int64_t ElementCount(const Sizes& sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return count;
}

Sizes DenseStrides(const Sizes& sizes) {
  Sizes strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    strides[i] = stride;
    stride *= sizes[i];
  }
  return strides;
}

int64_t SizeOf(const Sizes& sizes, size_t dimension) { return dimension < sizes.size() ? sizes[dimension] : 1; }

std::string TextOf(const Sizes& sizes) {
  std::string text = "{";
  for (const int64_t size : sizes) text += (text.size() > 1 ? "," : "") + std::to_string(size);
  return text + "}";
}

bool NextIndex(const Sizes& sizes, Sizes* index) {
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (++(*index)[i] < sizes[i]) return true;
    (*index)[i] = 0;
  }
  return false;
}

int64_t Dot(const Sizes& index, const Sizes& strides) {
  int64_t offset = 0;
  for (size_t i = 0; i < index.size(); ++i) offset += index[i] * strides[i];
  return offset;
}

void Poison(const TensorView& view) {
  if (!view.is_present()) return;
  const size_t bytes = BytesOf(view.type);
  ForEachOffset(view.sizes, view.strides, [&](int64_t offset) { std::memset(view.At(offset), 0xff, bytes); });
}

}  // namespace hpu::synapse_double
