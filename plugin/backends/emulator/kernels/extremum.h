// Kernel for maxima and minima along a dimension, and for their positions.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_EXTREMUM_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_EXTREMUM_H_

#include <cstdint>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// TensorFlow's CPU kernel of tf.reduce_max, tf.reduce_min, tf.argmax or tf.argmin. Operand: an array
// [outer, size, inner] of float32, or bfloat16 if `bfloat16`. Result: [outer, inner], of the operand's type for values,
// of int32 for positions, or of int64 if `wide_positions`. Of equal values, the first is found.
struct Extremum {
  enum class Function : int64_t { kMax = 0, kMin = 1, kArgMax = 2, kArgMin = 3 };
  static constexpr int64_t kFunctions = 4;

  Function function = Function::kMax;
  bool bfloat16 = false;
  bool wide_positions = false;
  int64_t outer = 1;
  int64_t size = 1;
  int64_t inner = 1;

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_EXTREMUM_H_
