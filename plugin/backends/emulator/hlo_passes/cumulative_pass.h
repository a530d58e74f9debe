// Pass that replaces cumulative sums, products and logarithms of sums of exponentials by kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_CUMULATIVE_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_CUMULATIVE_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Replaces the reductions that hlo::DescribeCumulative recognises. Supports float32, float64 and int32; for logarithms,
// float32 only. Must run before the other passes for reduce-window.
absl::Status UseCumulativeKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_CUMULATIVE_PASS_H_
