// Kernel for transpositions that move the last dimension.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_TRANSPOSITION_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_TRANSPOSITION_H_

#include <cstdint>
#include <vector>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// TensorFlow's CPU kernel of tf.transpose. Operand: an array of elements of 2, 4 or 8 bytes. Result: the same elements;
// dimension i of the result is dimension order[i] of the operand.
struct Transposition {
  int64_t element_bytes = 4;
  std::vector<int64_t> sizes;  // of the operand
  std::vector<int64_t> order;

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_TRANSPOSITION_H_
