// Pass that replaces matrix products by kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MATMUL_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MATMUL_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "plugin/backends/emulator/kernels/matmul.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Whether the product is large enough for a kernel, and oneDNN has a kernel for its type.
bool IsWorthAKernel(const MatMul& product);

// Replaces large products of float32 and bfloat16 without batch dimensions. Includes a transposition of the result if a
// product of the exchanged operands computes it.
absl::Status UseMatMulKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MATMUL_PASS_H_
