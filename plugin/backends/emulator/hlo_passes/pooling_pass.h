// Pass that replaces pooling and its gradients by kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_POOLING_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_POOLING_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Replaces reduce-window with addition or maximum, including a pad before it and a crop after it, as in average pooling
// and its gradient. Also replaces select-and-scatter that selects the first maximum.
absl::Status UsePoolingKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_POOLING_PASS_H_
