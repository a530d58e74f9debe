// Detection of TensorFlow lists and optionals whose elements must stay in host memory.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_ELEMENTS_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_ELEMENTS_H_

#include "tensorflow/core/framework/tensor.h"

namespace hpu {

// Whether a list or an optional in `variants` has an element that cannot be copied to a device: a string or a resource
// handle. `variants` is a tensor of DT_VARIANT; variants of other kinds count as empty. Thread safe.
bool HasHostElements(const tensorflow::Tensor& variants);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_ELEMENTS_H_
