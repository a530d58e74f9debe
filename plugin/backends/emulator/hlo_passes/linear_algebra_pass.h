// Replaces linear algebra by calls of the kernel for it.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_LINEAR_ALGEBRA_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_LINEAR_ALGEBRA_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"

namespace hpu::emulator {

// Takes calls that plugin/program/linear_algebra.h speaks of, Cholesky factors and triangular solving from the left, of
// float32 and float64. What the calls called is gone then.
absl::Status UseLinearAlgebraKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_LINEAR_ALGEBRA_PASS_H_
