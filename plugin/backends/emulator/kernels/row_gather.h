// Rows picked out of an array by their numbers.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ROW_GATHER_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ROW_GATHER_H_

#include <cstdint>
#include <vector>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Operands: an array [outer, dimensions..., row_bytes], and `count` vectors of whole numbers, which name an element of
// `dimensions` each. Result: [outer, count, row_bytes]. Numbers outside a dimension mean its first or last element.
struct RowGather {
  struct Component {
    int64_t size;    // of the dimension that it is for
    int64_t stride;  // from one of its elements to the next, in rows
  };

  int64_t index_bytes;  // 4 or 8, signed
  int64_t outer;
  int64_t rows;  // the product of `dimensions`
  int64_t row_bytes;
  int64_t count;
  std::vector<Component> components;  // of a vector, in its order

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ROW_GATHER_H_
