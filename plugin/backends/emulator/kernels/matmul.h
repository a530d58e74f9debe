// Kernel for products of two matrices.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_MATMUL_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_MATMUL_H_

#include <cstdint>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Operands: [rows, inner] and [inner, columns]; transpose_a and transpose_b mark operands that are stored transposed.
// Result: [rows, columns]. bfloat16 accumulates in float32. Requires oneDNN, because XLA's products are as fast as
// TensorFlow's other kernels.
struct MatMul {
  bool bfloat16 = false;  // else float32
  bool transpose_a = false;
  bool transpose_b = false;
  int64_t rows = 1;
  int64_t inner = 1;
  int64_t columns = 1;

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_MATMUL_H_
