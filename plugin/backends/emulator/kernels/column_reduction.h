// Kernel for sums, maxima and products over rows.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_COLUMN_REDUCTION_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_COLUMN_REDUCTION_H_

#include <cstdint>

#include "plugin/backends/emulator/kernels/columns.h"
#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Operands: one array [outer, rows, columns], or two for kSumOfProducts. Result: [outer, columns], float32.
struct ColumnReduction {
  enum class Function : int64_t { kSum = 0, kSumOfSquares = 1, kSumOfProducts = 2, kMax = 3, kProduct = 4 };
  // Type of the operands. Booleans count as 0 and 1.
  enum class Element : int64_t { kFloat32 = 0, kBFloat16 = 1, kBool = 2 };
  Function function = Function::kSum;
  Columns columns;
  Element element = Element::kFloat32;

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_COLUMN_REDUCTION_H_
