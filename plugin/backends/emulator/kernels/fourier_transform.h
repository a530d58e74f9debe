// Kernel for Fourier transforms over the last one to three dimensions.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_FOURIER_TRANSFORM_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_FOURIER_TRANSFORM_H_

#include <cstdint>
#include <vector>

#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// Operand: [batch, lengths…]. For transforms from and to real numbers, the complex side stores only lengths.back() / 2
// + 1 elements of the last dimension.
struct FourierTransform {
  enum class Kind : int64_t { kForward = 0, kInverse = 1, kFromReal = 2, kToReal = 3 };
  Kind kind = Kind::kForward;
  bool of_doubles = false;  // else float32
  int64_t batch = 0;
  std::vector<int64_t> lengths;

  KernelSpec Spec() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_FOURIER_TRANSFORM_H_
