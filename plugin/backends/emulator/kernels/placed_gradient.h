// Kernel that adds the elements of a gradient at given positions of images.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_PLACED_GRADIENT_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_PLACED_GRADIENT_H_

#include <cstdint>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Operands and result: see placed_gradient in plugin/program/marked_call.h. Elements with positions in their own image
// are added first, in order, then elements with positions in other images.
struct PlacedGradient {
  bool of_batch = false;  // positions count from the start of the batch
  int64_t batch = 1;
  int64_t numbers = 1;   // of an image's gradient
  int64_t elements = 1;  // of an image

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_PLACED_GRADIENT_H_
