// Sums of all elements up to each one.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_CUMULATIVE_SUM_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_CUMULATIVE_SUM_H_

#include <cstdint>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Operand: a float32 array [outer, size, inner]. Result: [outer, size, inner], or size + 1 if `from_zero`: then it
// begins with 0, the sum of no element. Sums begin at the first element, or at the last one if `reverse`.
struct CumulativeSum {
  bool reverse = false;
  bool from_zero = false;
  int64_t outer = 1;
  int64_t size = 1;
  int64_t inner = 1;

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_CUMULATIVE_SUM_H_
