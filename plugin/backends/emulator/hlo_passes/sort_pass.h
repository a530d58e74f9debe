// Pass that replaces sorting and top-k selection by kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SORT_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SORT_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Replaces sorts whose comparator orders only by the first operand, ascending or descending. Keys have 1, 2 or 4 bytes,
// and floats must be in total order. If all users read only the first elements, as in tf2xla's TopKV2, the kernel
// computes only these elements. Removes transpositions around a sort.
absl::Status UseSortKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SORT_PASS_H_
