// Kernels for the sums over rows in batch normalisation and its gradient.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_BATCH_NORM_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_BATCH_NORM_H_

#include <cstdint>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Operand: [rows, features], float32 or bfloat16. Results, float32: mean and population variance of each feature. The
// variance is the mean of (x - mean)², because a difference of large sums would lose precision.
struct BatchMoments {
  int64_t rows = 1;
  int64_t features = 1;
  bool bfloat16 = false;

  KernelSpec Spec() const;
};

// Operands: x [rows, features], mean [features] and the result's gradient [rows, features]. The mean is float32; x and
// the gradient have the same type, float32 or bfloat16. Results, float32, for each feature: the sum of the gradient,
// and the sum of the gradient times (x - mean).
struct BatchGradientSums {
  int64_t rows = 1;
  int64_t features = 1;
  bool bfloat16 = false;

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_BATCH_NORM_H_
