// Products of matrices become kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MATMUL_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MATMUL_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "plugin/backends/emulator/kernels/matmul.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Whether a product is large enough, and TensorFlow has a kernel for it.
bool IsWorthAKernel(const MatMul& product);

// Takes larger products without batch dimensions, of float32 and of bfloat16, with the transposition of their result
// where that only exchanges the operands.
absl::Status UseMatMulKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MATMUL_PASS_H_
