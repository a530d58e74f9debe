// Kernel that gathers rows of an array by index vectors.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ROW_GATHER_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ROW_GATHER_H_

#include <cstdint>
#include <vector>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Operands: an array [outer, dimensions..., row_bytes], and `count` index vectors, each of which selects one row of
// `dimensions`. Result: [outer, count, row_bytes]. Out-of-range indices are clamped to the first or last element of the
// dimension.
struct RowGather {
  struct Component {
    int64_t size;    // size of the component's dimension
    int64_t stride;  // distance between elements of the dimension, in rows
  };

  int64_t index_bytes;  // 4 or 8, signed
  int64_t outer;
  int64_t rows;  // the product of `dimensions`
  int64_t row_bytes;
  int64_t count;
  std::vector<Component> components;  // components of an index vector, in order

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ROW_GATHER_H_
