// Precision conversion of bfloat16 functions for the CPU, which lacks some bfloat16 kernels.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_PRECISION_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_PRECISION_H_

#include "tensorflow/core/framework/function.h"

namespace hpu {

// Whether the node computes in bfloat16, and its op has a CPU kernel for float32, but not for bfloat16.
bool HasCpuKernelInFloat32Only(const tensorflow::NodeDef& node);

// Rewrites the nodes of `function` whose ops have a CPU kernel for float32, but not for bfloat16. The rewritten nodes
// compute in float32, between casts. An optimizer update of bfloat16 variables runs on float32 copies.
void ToHostPrecision(tensorflow::FunctionDef* function);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_PRECISION_H_
