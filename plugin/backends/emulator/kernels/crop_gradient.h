// Kernel for gradients of image crops (tf.image.crop_and_resize).
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_CROP_GRADIENT_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_CROP_GRADIENT_H_

#include <cstdint>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Operands and result: see crop_gradient in plugin/program/marked_call.h. The gradient of the images adds contributions
// in the order of the boxes and their pixels. The order of all sums is fixed.
struct CropGradient {
  // Gradient of the images, or of the sampling coordinates y and x.
  enum class Of : int64_t { kImage = 0, kPlaces = 1 };

  Of of = Of::kImage;
  int64_t boxes = 1;
  int64_t rows = 1;  // of a crop
  int64_t columns = 1;
  int64_t images = 1;
  int64_t height = 1;
  int64_t width = 1;
  int64_t channels = 1;

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_CROP_GRADIENT_H_
