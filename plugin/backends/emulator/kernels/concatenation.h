// Arrays one after the other.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_CONCATENATION_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_CONCATENATION_H_

#include <cstdint>
#include <vector>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Operands: arrays of `outer` rows, of so many bytes each. Result: rows of all of theirs, side by side.
struct Concatenation {
  int64_t outer = 1;
  std::vector<int64_t> row_bytes;

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_CONCATENATION_H_
