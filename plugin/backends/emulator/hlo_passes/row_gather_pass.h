// Pass that replaces gathers of rows by kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_ROW_GATHER_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_ROW_GATHER_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Replaces gathers of whole rows from memory into large arrays. XLA's code computes the address of each element.
absl::Status UseRowGatherKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_ROW_GATHER_PASS_H_
