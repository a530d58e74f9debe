// An array with a value around it.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_PADDING_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_PADDING_H_

#include <cstdint>
#include <vector>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Operands: an array, a value of its type. Result: the array, padded by the value, or cut.
struct Padding {
  struct Dimension {
    int64_t operand;  // elements
    int64_t result;   // elements
    int64_t low;      // where the operand's first element is in the result; below 0 if it is cut off
  };

  int64_t element_bytes;              // a power of two up to 16
  std::vector<Dimension> dimensions;  // outermost first

  // The same with as few dimensions as possible: the last one's rows are as long as can be.
  Padding Simplified() const;
  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_PADDING_H_
