// Kernel for searches in sorted rows (LowerBound, UpperBound).
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_SORTED_SEARCH_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_SORTED_SEARCH_H_

#include <cstdint>

#include "plugin/backends/emulator/kernels/kernel.h"
#include "plugin/backends/emulator/kernels/number_type.h"

namespace hpu::emulator {

// Operands: values [rows, values] and bounds [rows, bounds], both of `type`. Result: int32 [rows, values], the number
// of bounds in a value's row that are less than the value, or not greater if `or_equal`. In an unsorted row, the bounds
// are counted one by one.
struct SortedSearch {
  NumberType type = NumberType::kFloat32;
  bool or_equal = false;
  int64_t rows = 1;
  int64_t values = 1;
  int64_t bounds = 1;

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_SORTED_SEARCH_H_
