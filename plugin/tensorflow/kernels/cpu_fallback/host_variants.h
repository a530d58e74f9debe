// ZerosLike and AddN of variants for which TensorFlow has only CPU functions: ragged tensors and maps.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_VARIANTS_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_VARIANTS_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/variant.h"

namespace hpu {

// Runs the CPU kernel of ZerosLike for one variant, or of AddN for several, on host copies of the variants' tensors.
// The result's tensors are in the memory that their types require on the HPU. Returns the CPU kernel's error. Thread
// safe.
absl::Status ComputeVariantOnHost(tensorflow::OpKernelContext* context,
                                  absl::Span<const tensorflow::Variant* const> inputs, tensorflow::Variant* output);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_VARIANTS_H_
