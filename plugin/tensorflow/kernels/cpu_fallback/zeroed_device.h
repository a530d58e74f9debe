// A CPU device that zeroes the memory of its kernels.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_ZEROED_DEVICE_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_ZEROED_DEVICE_H_

#include <memory>

#include "tensorflow/core/framework/device.h"

namespace hpu {

// Returns a CPU device that runs kernels like `cpu`, but zeroes all memory that the kernels allocate. Some CPU kernels
// do not write their whole result: Cholesky skips the upper triangle of a matrix that has no decomposition. Thread
// safe.
std::unique_ptr<tensorflow::Device> ZeroMemoryOf(std::unique_ptr<tensorflow::Device> cpu);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_ZEROED_DEVICE_H_
