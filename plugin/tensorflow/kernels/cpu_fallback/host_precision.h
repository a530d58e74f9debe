// Precision conversion of bfloat16 graphs for the CPU, which lacks some bfloat16 kernels.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_PRECISION_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_PRECISION_H_

#include "tensorflow/core/framework/function.h"

namespace hpu {

// Makes a node of `function` compute in float32, between casts, if the CPU has a kernel for float32 but none for
// bfloat16. An update of bfloat16 variables runs on float32 copies of them. Other nodes do not change.
void ToHostPrecision(tensorflow::FunctionDef* function);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_PRECISION_H_
