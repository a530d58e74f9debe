// Kernel for sums over windows along the rows of an array.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ROW_WINDOWS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ROW_WINDOWS_H_

#include <cstdint>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Operand: a float32 array [rows, columns]. Result: [rows, columns + before + after - window + 1], the sums over
// `window` adjacent elements; each row is padded by `before` and `after` zeros. Elements are added in order, as XLA
// does.
struct RowWindows {
  bool squares = false;  // sums the squares of the elements, else the elements
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t window = 1;
  int64_t before = 0;
  int64_t after = 0;

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ROW_WINDOWS_H_
