// bfloat16 graphs on the CPU, which lacks some kernels for it.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_PRECISION_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_PRECISION_H_

#include "tensorflow/core/framework/function.h"

namespace hpu {

// Every node of `function` that the CPU has a kernel for in float32 but not in bfloat16 computes in float32, between
// casts; an update of bfloat16 variables on float32 copies of these. Other nodes stay as they are.
void ToHostPrecision(tensorflow::FunctionDef* function);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_PRECISION_H_
