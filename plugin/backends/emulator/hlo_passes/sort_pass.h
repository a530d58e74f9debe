// Pass that replaces sorting and top-k selection by kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SORT_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SORT_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Replaces sorts by the first operand only, ascending or descending, floats in total order, with keys of 1, 2 or 4
// bytes. If the users slice off the first elements, as tf2xla does for TopKV2, the kernel computes only those. Must run
// before the pass for transpositions, because transpositions around a sort are dropped.
absl::Status UseSortKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SORT_PASS_H_
