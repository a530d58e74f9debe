// Pass that replaces maxima, minima, argmax and argmin by kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_EXTREMUM_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_EXTREMUM_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Replaces maxima and minima of float32 and bfloat16 over adjacent dimensions, and their positions (argmax, argmin).
// XLA compares one element at a time on one thread: up to 7 times TensorFlow's time. Must run after
// UseReductionKernels, which replaces float32 maxima of columns.
absl::Status UseExtremumKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_EXTREMUM_PASS_H_
