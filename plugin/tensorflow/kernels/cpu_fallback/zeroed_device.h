// A CPU device that zeroes memory which its kernels may leave unwritten.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_ZEROED_DEVICE_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_ZEROED_DEVICE_H_

#include <memory>

#include "tensorflow/core/framework/device.h"

namespace hpu {

// Returns a CPU device that runs kernels like `cpu`, but zeroes the memory of kernels that may not write their whole
// result: those of ops with the fact `unwritten` (Cholesky skips the upper triangle of a matrix that has no
// decomposition), and those with an empty operand (the gradient of a convolution's filter). Zeroing the memory of all
// kernels would take a quarter of a convolutional network's time. Thread safe.
std::unique_ptr<tensorflow::Device> ZeroMemoryOf(std::unique_ptr<tensorflow::Device> cpu);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_ZEROED_DEVICE_H_
