// Pass that replaces sums over windows of the last dimension, as in local response normalisation, by kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_ROW_WINDOW_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_ROW_WINDOW_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Replaces float32 sums, also of squares, over windows of several elements along the last dimension only, without
// strides or dilations.
absl::Status UseRowWindowKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_ROW_WINDOW_PASS_H_
