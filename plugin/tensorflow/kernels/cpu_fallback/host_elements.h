// Lists and optionals of types that live in host memory.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_ELEMENTS_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_ELEMENTS_H_

#include "tensorflow/core/framework/tensor.h"

namespace hpu {

// Whether a list or an optional in `variants` has an element that no copy can take to a device: strings and handles of
// resources. `variants` is a tensor of DT_VARIANT; other kinds of variants in it count as without elements. Thread
// safe.
bool HasHostElements(const tensorflow::Tensor& variants);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_ELEMENTS_H_
