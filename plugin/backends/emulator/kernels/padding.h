// Kernel for padding and cropping of arrays.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_PADDING_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_PADDING_H_

#include <cstdint>
#include <vector>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Operands: an array, and a scalar of the same type. Result: the array, padded with the scalar or cropped.
struct Padding {
  struct Dimension {
    int64_t operand;  // elements
    int64_t result;   // elements
    int64_t low;      // position of the operand's first element in the result; negative if it is cropped
  };

  int64_t element_bytes;              // a power of two up to 16
  std::vector<Dimension> dimensions;  // outermost first

  // The same padding with as few dimensions as possible, so that the rows of the last dimension are as long as
  // possible.
  Padding Simplified() const;
  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_PADDING_H_
