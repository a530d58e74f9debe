// What batch normalisation sums over rows.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_BATCH_NORM_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_BATCH_NORM_H_

#include <cstdint>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Operand: [rows, features], float32 or bfloat16. Results, float32: mean and variance (of the whole population) of each
// feature. The variance is that of the differences from the mean, not a difference of large sums.
struct BatchMoments {
  int64_t rows = 1;
  int64_t features = 1;
  bool bfloat16 = false;

  KernelSpec Spec() const;
};

// Operands: x [rows, features], mean [features], gradient of the result [rows, features]; mean is float32, the others
// both float32 or both bfloat16. Results, float32: of each feature the sum of the gradient, and of the gradient times
// (x - mean).
struct BatchGradientSums {
  int64_t rows = 1;
  int64_t features = 1;
  bool bfloat16 = false;

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_BATCH_NORM_H_
