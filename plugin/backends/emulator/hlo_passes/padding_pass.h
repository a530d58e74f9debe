// Padding becomes kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_PADDING_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_PADDING_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Takes that of larger arrays which are in memory and needed there: XLA's loop asks of each element whether it is
// padding. To be run behind the passes that take padding into their kernels, as those of convolutions.
absl::Status UsePaddingKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_PADDING_PASS_H_
