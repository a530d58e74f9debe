// Kernel for softmax over rows.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_SOFTMAX_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_SOFTMAX_H_

#include <cstdint>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Operand: an array [rows, columns]. Result: exp(x - m) / sum(exp(x - m)) over the row, where m is the row's maximum.
// As in XLA, a row becomes NaN if it holds a NaN or +infinity, or only -infinity. Otherwise -infinity becomes 0, and so
// do results below 2^-126 of the row's largest. bfloat16 is computed in float32.
struct Softmax {
  bool bfloat16 = false;  // else float32
  int64_t rows = 1;
  int64_t columns = 1;

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_SOFTMAX_H_
