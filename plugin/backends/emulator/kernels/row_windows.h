// Sums over windows that move along the rows of an array.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ROW_WINDOWS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ROW_WINDOWS_H_

#include <cstdint>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Operand: a float32 array [rows, columns]. Result: [rows, columns + before + after - window + 1], the sums over
// `window` elements that lie side by side, with `before` and `after` zeros around each row. Elements are added from the
// first to the last, as XLA does.
struct RowWindows {
  bool squares = false;  // of the elements; else the elements themselves
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t window = 1;
  int64_t before = 0;
  int64_t after = 0;

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ROW_WINDOWS_H_
