// Kernel for pooling: a reduction over each window of an array.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_WINDOW_REDUCTION_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_WINDOW_REDUCTION_H_

#include <cstdint>

#include "plugin/backends/emulator/kernels/kernel.h"
#include "plugin/backends/emulator/kernels/windows.h"

namespace hpu::emulator {

// Operand: array [outer, …, inner]. The elements of each window are reduced in row-major order, as in XLA.
struct WindowReduction {
  enum class Function : int64_t { kAdd = 0, kMax = 1 };
  Function function = Function::kAdd;
  bool bfloat16 = false;  // else float32; only for kMax, which does not round
  Windows windows;

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_WINDOW_REDUCTION_H_
