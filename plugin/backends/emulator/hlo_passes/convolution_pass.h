// Pass that replaces convolutions and their gradients by kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_CONVOLUTION_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_CONVOLUTION_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Replaces the HLO that tf2xla emits for convolutions and their gradients in TensorFlow's order of dimensions (batch
// first, features last). Large pointwise convolutions become matrix products. Leaves convolutions without a kernel to
// XLA.
absl::Status UseConvolutionKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_CONVOLUTION_PASS_H_
