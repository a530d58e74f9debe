// Convolutions and their gradients become kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_CONVOLUTION_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_CONVOLUTION_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Takes what tf2xla makes of convolutions in TensorFlow's order of dimensions, batch first and features last, and of
// their gradients. Pointwise ones become products of matrices, others are left to XLA.
absl::Status UseConvolutionKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_CONVOLUTION_PASS_H_
