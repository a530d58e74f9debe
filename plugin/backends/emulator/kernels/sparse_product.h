// Kernel for products with sparse constant matrices.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_SPARSE_PRODUCT_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_SPARSE_PRODUCT_H_

#include <cstdint>
#include <vector>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Nonzero elements of a matrix [to, from], by row.
struct SparseMatrix {
  struct Entry {
    int64_t column;  // less than `from`
    double weight;
  };
  std::vector<std::vector<Entry>> rows;
};

// Operand: an array [outer, height, width, inner] of float32, or of float64. Result: [outer, to, to', inner]:
// `vertical` multiplies the height, `horizontal` the width. A matrix without rows leaves the dimension unchanged.
// Elements with weight 0 are ignored, even NaN and infinities.
struct SparseProduct {
  int64_t outer = 1;
  int64_t height = 1;
  int64_t width = 1;
  int64_t inner = 1;
  SparseMatrix vertical;
  SparseMatrix horizontal;
  bool is_float64 = false;  // else float32

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_SPARSE_PRODUCT_H_
