// Pass that replaces scatter-additions of gradients into images by kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_PLACED_GRADIENT_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_PLACED_GRADIENT_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"

namespace hpu::emulator {

// Replaces calls marked `placed_gradient` (plugin/program/marked_call.h), and removes the called computations.
absl::Status UsePlacedGradientKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_PLACED_GRADIENT_PASS_H_
