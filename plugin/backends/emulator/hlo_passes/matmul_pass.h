// Products of matrices become kernels where XLA's are slow.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MATMUL_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MATMUL_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Takes products without batch dimensions: those of bfloat16, and those of float32 whose first operand is transposed,
// as in the gradient of a dense layer's weights.
absl::Status UseMatMulKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MATMUL_PASS_H_
