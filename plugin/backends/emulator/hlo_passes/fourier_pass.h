// Pass that replaces Fourier transforms by kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_FOURIER_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_FOURIER_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"

namespace hpu::emulator {

// Leaves empty transforms, and transforms of more than three dimensions, to XLA.
absl::Status UseFourierKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_FOURIER_PASS_H_
