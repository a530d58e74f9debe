// Copies of elements of any type between boxes of two tensors.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_BOX_COPY_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_BOX_COPY_H_

#include <cstdint>

#include "plugin/testing/synapse_double/kernels/kernel.h"
#include "plugin/testing/synapse_double/kernels/tensor_view.h"

namespace hpu::synapse_double {

// Position of a box in a tensor: offset of the first element, and strides, in elements.
struct Box {
  int64_t offset = 0;
  Sizes strides;
};

// The whole tensor.
Box WholeBox(const TensorView& view);

// Copies a box of `sizes`. The strides of `from_box` may be 0.
void CopyBox(const TensorView& from, const Box& from_box, const TensorView& to, const Box& to_box, const Sizes& sizes);

// Copies all bytes in dense order, fastest dimension first. The sizes may differ, the numbers of bytes must not.
void CopyBytes(const TensorView& from, const TensorView& to);

// Fails unless input `i` has the type of output 0.
bool RequireSameType(KernelContext* context, size_t i);

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_BOX_COPY_H_
