// Replaces softmax over the last dimension by kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SOFTMAX_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SOFTMAX_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"

namespace hpu::emulator {

// Where float32 or bfloat16 is divided by the sum of its rows and is exp of what its rows' maxima were subtracted from:
// as tf2xla writes Softmax, and programs that compute it themselves.
absl::Status UseSoftmaxKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SOFTMAX_PASS_H_
