// Products with matrices of constants of which most are 0.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_SPARSE_PRODUCT_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_SPARSE_PRODUCT_H_

#include <cstdint>
#include <vector>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Which numbers of a matrix [to, from] are not 0, by its rows.
struct SparseMatrix {
  struct Entry {
    int64_t column;  // less than `from`
    float weight;
  };
  std::vector<std::vector<Entry>> rows;
};

// Operand: a float32 array [outer, height, width, inner]. Result: [outer, to, to', inner], the product of `vertical`
// with the second dimension and of `horizontal` with the third; a matrix without rows leaves its dimension as it is.
// Numbers whose weight is 0 do not count, whatever they are.
struct SparseProduct {
  int64_t outer = 1;
  int64_t height = 1;
  int64_t width = 1;
  int64_t inner = 1;
  SparseMatrix vertical;
  SparseMatrix horizontal;

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_SPARSE_PRODUCT_H_
