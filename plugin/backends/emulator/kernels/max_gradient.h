// Kernel for the gradient of max pooling.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_MAX_GRADIENT_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_MAX_GRADIENT_H_

#include "plugin/backends/emulator/kernels/kernel.h"
#include "plugin/backends/emulator/kernels/windows.h"

namespace hpu::emulator {

// Operands: an array [outer, …, inner] of float32 or bfloat16, and one float32 gradient per window. Result: float32, in
// the array's shape. Each window's gradient is added at the first greatest element of the window; other elements are 0.
// As in TensorFlow's CPU kernels, an element replaces an earlier maximum only if it is greater. So NaN is a window's
// maximum only as the first element. Windows without elements add nothing.
struct MaxGradient {
  Windows windows;
  bool bfloat16 = false;  // type of the array; else float32

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_MAX_GRADIENT_H_
