// Products of two matrices.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_MATMUL_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_MATMUL_H_

#include <cstdint>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Operands: [rows, inner] and [inner, columns], each stored the other way round where it is transposed. Result: [rows,
// columns]. bfloat16 accumulates in float32. Only where TensorFlow uses oneDNN: else XLA's own are as good.
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
