// Kernel for batches of products of small matrices.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_BATCHED_PRODUCT_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_BATCHED_PRODUCT_H_

#include <cstdint>
#include <vector>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Operands: float32 matrices a [rows, inner] and b [inner, columns], stored in two arrays with any strides. Strides are
// in elements. Result: the products, [batches..., rows, columns], dense. The order of additions depends on `inner`
// only.
struct BatchedProduct {
  struct Batch {
    int64_t size;
    int64_t a_stride;
    int64_t b_stride;
  };

  int64_t rows = 1;
  int64_t inner = 1;
  int64_t columns = 1;
  int64_t a_row_stride = 0;
  int64_t a_inner_stride = 0;
  int64_t b_inner_stride = 0;
  int64_t b_column_stride = 0;
  std::vector<Batch> batches;  // outermost first

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_BATCHED_PRODUCT_H_
