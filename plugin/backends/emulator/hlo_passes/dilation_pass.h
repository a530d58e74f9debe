// Pass that replaces dilations of images and their gradients by kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_DILATION_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_DILATION_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"

namespace hpu::emulator {

// Replaces calls marked `dilation` (plugin/program/marked_call.h), and removes the called computations.
absl::Status UseDilationKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_DILATION_PASS_H_
