// Pass that replaces softmax over the last dimension by kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SOFTMAX_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SOFTMAX_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"

namespace hpu::emulator {

// Replaces e / sum(e) over rows, where e is exp(x - max(x)) over rows, of float32 or bfloat16. tf2xla emits this form
// for Softmax; programs also contain it explicitly.
absl::Status UseSoftmaxKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SOFTMAX_PASS_H_
