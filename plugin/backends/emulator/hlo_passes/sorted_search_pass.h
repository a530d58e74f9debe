// Pass that replaces LowerBound and UpperBound by kernels that search sorted rows.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SORTED_SEARCH_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SORTED_SEARCH_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Replaces the HLO that tf2xla emits for LowerBound and UpperBound. This HLO compares each value with all bounds and
// sums the results.
absl::Status UseSortedSearchKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SORTED_SEARCH_PASS_H_
