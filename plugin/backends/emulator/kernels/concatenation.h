// Kernel that concatenates slices of arrays along one dimension.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_CONCATENATION_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_CONCATENATION_H_

#include <cstdint>
#include <vector>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Operands: arrays of `outer` rows; a slice of each row is used. Result: `outer` rows, each the concatenation of the
// operands' slices.
struct Concatenation {
  struct Piece {
    int64_t row_bytes;  // distance between rows of the operand
    int64_t offset;     // start of the slice in a row, in bytes
    int64_t bytes;
  };

  int64_t outer = 1;
  std::vector<Piece> pieces;  // one for each operand

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_CONCATENATION_H_
