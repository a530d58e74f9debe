// Kernel for cumulative sums, products and logarithms of sums of exponentials.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_CUMULATIVE_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_CUMULATIVE_H_

#include <cstdint>

#include "plugin/backends/emulator/kernels/kernel.h"
#include "plugin/backends/emulator/kernels/number_type.h"

namespace hpu::emulator {

// TensorFlow's CPU kernel of tf.cumsum, tf.math.cumprod or tf.math.cumulative_logsumexp. Operand and result: an array
// [outer, size, inner] of `type`; int32 wraps around. If `reverse`, accumulation starts at the last element.
struct Cumulative {
  enum class Function : int64_t { kAdd = 0, kMultiply = 1, kLogAddExp = 2 };
  static constexpr int64_t kFunctions = 3;

  Function function = Function::kAdd;
  NumberType type = NumberType::kFloat32;
  bool reverse = false;
  int64_t outer = 1;
  int64_t size = 1;
  int64_t inner = 1;

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_CUMULATIVE_H_
