// Sines, arctangents, powers and their like, which XLA computes one element at a time.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_ELEMENTARY_FUNCTION_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_ELEMENTARY_FUNCTION_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Makes calls of the kernel `elementary_function` of them, in larger arrays. Arcsines and arccosines are found as
// tf2xla writes them; powers of which XLA makes products or roots are left to it.
// Reciprocal roots and inverse hyperbolic tangents become what XLA makes vectors of.
absl::Status UseElementaryFunctionKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_ELEMENTARY_FUNCTION_PASS_H_
