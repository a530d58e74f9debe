// Kernel for element-wise elementary functions of one or two arrays.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ELEMENTARY_FUNCTION_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ELEMENTARY_FUNCTION_H_

#include <cstdint>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// TensorFlow's CPU kernels. Operands: one array, or two for binary functions, all of the same type. The result has as
// many elements as the first operand.
struct ElementaryFunction {
  enum class Function : int64_t {
    kSine = 0,
    kCosine = 1,
    kTangent = 2,
    kArcSine = 3,
    kArcCosine = 4,
    kArcTangent = 5,
    // Binary functions: atan2(y, x) and x^y.
    kArcTangent2 = 6,
    kPower = 7,
  };
  static constexpr int64_t kFunctions = 8;
  static constexpr bool IsBinary(Function function) { return function >= Function::kArcTangent2; }

  Function function = Function::kSine;
  bool bfloat16 = false;  // else float32
  bool uniform = false;   // the second operand is one element
  int64_t elements = 1;

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ELEMENTARY_FUNCTION_H_
