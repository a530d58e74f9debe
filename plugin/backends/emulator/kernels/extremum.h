// Largest and smallest elements, and where they are.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_EXTREMUM_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_EXTREMUM_H_

#include <cstdint>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Operand: an array [outer, size, inner] of float32 or bfloat16. Result: [outer, inner], for each the largest or
// smallest of `size` elements, or the int32 place of the first of these.
//
// NaN as in XLA's reductions, which take one element after the other: a value is NaN where one of the elements is. A
// place is that of the greatest behind the last NaN, or of this if nothing is behind it.
struct Extremum {
  bool place = false;
  bool least = false;
  bool bfloat16 = false;
  int64_t outer = 1;
  int64_t size = 1;
  int64_t inner = 1;

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_EXTREMUM_H_
