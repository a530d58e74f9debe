// Arithmetic on variants with CPU-only functions: ragged tensors, maps.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_VARIANTS_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_VARIANTS_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/variant.h"

namespace hpu {

// Runs the CPU kernel of ZerosLike for one variant, or of AddN for several, on host copies of their tensors. The
// tensors of the result lie where their types live. Fails with the CPU's error. Thread safe.
absl::Status ComputeVariantOnHost(tensorflow::OpKernelContext* context,
                                  absl::Span<const tensorflow::Variant* const> inputs, tensorflow::Variant* output);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_VARIANTS_H_
