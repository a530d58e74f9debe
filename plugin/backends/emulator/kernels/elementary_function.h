// Kernel for element-wise elementary functions of one or two arrays.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ELEMENTARY_FUNCTION_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ELEMENTARY_FUNCTION_H_

#include <cstdint>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// TensorFlow's CPU kernels. Operands: one array, or two for kArcTangent2, of the same type. The result has as many
// elements as the first operand.
struct ElementaryFunction {
  enum class Function : int64_t {
    kSine = 0,
    kCosine = 1,
    kArcSine = 2,
    kArcCosine = 3,
    kArcTangent = 4,
    kArcTangent2 = 5,  // atan2(y, x), the only function of two arrays
  };
  static constexpr int64_t kFunctions = 6;

  Function function = Function::kSine;
  bool bfloat16 = false;  // else float32
  int64_t elements = 1;

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ELEMENTARY_FUNCTION_H_
