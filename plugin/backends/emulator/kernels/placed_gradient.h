// Kernel that scatter-adds the elements of a gradient into images.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_PLACED_GRADIENT_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_PLACED_GRADIENT_H_

#include <cstdint>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Operands and result: see placed_gradient in plugin/program/marked_call.h. Elements whose offset is in their own image
// are added first, in order, then elements whose offset is in another image.
struct PlacedGradient {
  bool of_batch = false;  // offsets count from the start of the batch, else from the start of the image
  int64_t batch = 1;
  int64_t numbers = 1;   // elements of the gradient per image
  int64_t elements = 1;  // elements of an image

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_PLACED_GRADIENT_H_
