// Numbers of a gradient, added at places of images.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_PLACED_GRADIENT_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_PLACED_GRADIENT_H_

#include <cstdint>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// What plugin/program/placed_gradient.h speaks of, which says what operands and result are. Numbers are added in their
// order, those of an image to others behind those to their own.
struct PlacedGradient {
  bool of_batch = false;  // places count from the batch's begin
  int64_t batch = 1;
  int64_t numbers = 1;   // of an image's gradient
  int64_t elements = 1;  // of an image

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_PLACED_GRADIENT_H_
