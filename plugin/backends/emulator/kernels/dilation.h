// Kernels for dilations of images and their gradients.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_DILATION_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_DILATION_H_

#include <cstdint>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// TensorFlow's CPU kernels of Dilation2D and its gradients. Operands and result: see dilation in
// plugin/program/marked_call.h.
struct Dilation {
  // The result: the maxima, the gradient of the images, or the gradient of the filter.
  enum class Of : int64_t { kMaxima = 0, kInput = 1, kFilter = 2 };
  struct Dimension {
    int64_t input = 1;
    int64_t output = 1;
    int64_t window = 1;
    int64_t stride = 1;
    int64_t rate = 1;
  };

  Of of = Of::kMaxima;
  bool same_padding = false;  // else VALID
  int64_t batch = 1;
  int64_t channels = 1;
  Dimension rows;
  Dimension columns;

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_DILATION_H_
