// Pass that calls kernels for sines, arctangents and similar functions. XLA computes such functions one element at a
// time.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_ELEMENTARY_FUNCTION_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_ELEMENTARY_FUNCTION_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Replaces functions of large arrays by calls of the kernel `elementary_function`. Arcsines and arccosines are
// recognised in the form that tf2xla emits.
absl::Status UseElementaryFunctionKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_ELEMENTARY_FUNCTION_PASS_H_
