// Kernel for largest and smallest elements and their positions.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_EXTREMUM_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_EXTREMUM_H_

#include <cstdint>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Operand: an array [outer, size, inner] of float32 or bfloat16. Result: [outer, inner], the largest or smallest of
// `size` elements, or the int32 position of its first occurrence.
//
// NaN behaves as in XLA's reductions, which process the elements in order. A value is NaN if any element is NaN. A
// position considers only the elements after the last NaN; if there are none, it is the position of the last NaN.
struct Extremum {
  bool place = false;
  bool is_min = false;
  bool bfloat16 = false;
  int64_t outer = 1;
  int64_t size = 1;
  int64_t inner = 1;

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_EXTREMUM_H_
