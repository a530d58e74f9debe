// Pass that replaces linear algebra by kernels: factorisations, linear systems, determinants, eigenvalues.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_LINEAR_ALGEBRA_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_LINEAR_ALGEBRA_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"

namespace hpu::emulator {

// Replaces calls marked `linear_algebra` (plugin/program/marked_call.h), lower Cholesky decompositions, and triangular
// solves from the left without a unit diagonal, for float32 and float64. Removes the called computations.
absl::Status UseLinearAlgebraKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_LINEAR_ALGEBRA_PASS_H_
