// Arithmetic on tensors inside variants, for lists and optionals on the HPU.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_DATA_FLOW_DATA_FLOW_VARIANTS_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_DATA_FLOW_DATA_FLOW_VARIANTS_H_

#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"

namespace hpu {

// Zeros of `input`'s type and shape, in the memory that the type requires. An unset element stays unset. Thread safe.
absl::Status ZerosLikeElement(tensorflow::OpKernelContext* context, const tensorflow::Tensor& input,
                              tensorflow::Tensor* output);

// Adds two elements with the HPU kernel of AddV2, or variant by variant. If one element is unset, the result is the
// other element. Thread safe.
absl::Status AddElements(tensorflow::OpKernelContext* context, const tensorflow::Tensor& a, const tensorflow::Tensor& b,
                         tensorflow::Tensor* output);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_DATA_FLOW_DATA_FLOW_VARIANTS_H_
