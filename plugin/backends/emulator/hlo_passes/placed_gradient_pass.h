// Replaces gradients whose numbers have places by calls of the kernel for them.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_PLACED_GRADIENT_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_PLACED_GRADIENT_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"

namespace hpu::emulator {

// Takes calls that plugin/program/placed_gradient.h speaks of. What the calls called is gone then.
absl::Status UsePlacedGradientKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_PLACED_GRADIENT_PASS_H_
