// Sorting, and finding the first elements, becomes kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SORT_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SORT_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Takes sorts by the first operand alone, ascending or descending, floats in total order, of keys of 1, 2 or 4 bytes.
// Where users cut the results to the first elements, as tf2xla does for TopKV2, no others are made. Before the pass
// that takes transpositions: those around a sort are left out.
absl::Status UseSortKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SORT_PASS_H_
