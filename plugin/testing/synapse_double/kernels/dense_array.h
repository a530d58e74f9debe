// Dense array: the elements of a tensor in the type that a kernel computes in, without gaps, fastest dimension first.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_DENSE_ARRAY_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_DENSE_ARRAY_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "plugin/testing/synapse_double/kernels/tensor_view.h"

namespace hpu::synapse_double {

template <typename T>
class DenseArray {
 public:
  explicit DenseArray(Sizes sizes, T value = T{})
      : sizes_(std::move(sizes)), strides_(DenseStrides(sizes_)), values_(ElementCount(sizes_), value) {}

  const Sizes& sizes() const { return sizes_; }
  const Sizes& strides() const { return strides_; }
  int64_t size(size_t dimension) const { return SizeOf(sizes_, dimension); }
  int64_t count() const { return static_cast<int64_t>(values_.size()); }

  T& operator[](int64_t position) { return values_[position]; }
  const T& operator[](int64_t position) const { return values_[position]; }
  T& at(const Sizes& index) { return values_[Dot(index, strides_)]; }
  const T& at(const Sizes& index) const { return values_[Dot(index, strides_)]; }

  // The same elements with other sizes.
  DenseArray Reshaped(Sizes sizes) const {
    DenseArray result = *this;
    result.sizes_ = std::move(sizes);
    result.strides_ = DenseStrides(result.sizes_);
    return result;
  }

  // Repeats dimensions of size 1, and missing slow dimensions.
  DenseArray BroadcastTo(const Sizes& sizes) const {
    if (sizes == sizes_) return *this;
    DenseArray result(sizes);
    Sizes strides(sizes.size());
    for (size_t i = 0; i < sizes.size() && i < sizes_.size(); ++i) strides[i] = sizes_[i] == 1 ? 0 : strides_[i];
    int64_t position = 0;
    ForEachOffset(sizes, strides, [&](int64_t offset) { result.values_[position++] = values_[offset]; });
    return result;
  }

 private:
  Sizes sizes_;
  Sizes strides_;
  std::vector<T> values_;
};

template <typename T>
DenseArray<T> Load(const TensorView& view) {
  DenseArray<T> result(view.sizes);
  int64_t position = 0;
  ForEachOffset(view.sizes, view.strides,
                [&](int64_t offset) { result[position++] = LoadElement<T>(view.type, view.At(offset)); });
  return result;
}

// Stores the elements in dense order. The view has as many elements as the array, but may have other sizes.
template <typename T>
void Store(const DenseArray<T>& array, const TensorView& view) {
  int64_t position = 0;
  ForEachOffset(view.sizes, view.strides,
                [&](int64_t offset) { StoreElement<T>(view.type, array[position++], view.At(offset)); });
}

// Calls f with a zero of the type in which kernels compute elements of `type`: double, int64_t or uint64_t.
template <typename F>
void WithComputeType(ElementType type, const F& f) {
  if (IsFloat(type)) {
    f(double{});
  } else if (IsUnsigned(type)) {
    f(uint64_t{});
  } else {
    f(int64_t{});
  }
}

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_DENSE_ARRAY_H_
