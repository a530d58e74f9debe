// Pass that replaces gradients with given positions by kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_PLACED_GRADIENT_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_PLACED_GRADIENT_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"

namespace hpu::emulator {

// Replaces the calls in plugin/program/placed_gradient.h, and removes the computations that they call.
absl::Status UsePlacedGradientKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_PLACED_GRADIENT_PASS_H_
