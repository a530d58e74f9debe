// Products with matrices of constants that are mostly 0 become kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SPARSE_PRODUCT_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SPARSE_PRODUCT_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Takes float32 products of a matrix that depends on no argument with one dimension of an array, and the transposition
// behind it that puts that dimension back in its place: how images are resized, and their gradients. Before the pass
// that takes all other products.
absl::Status UseSparseProductKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SPARSE_PRODUCT_PASS_H_
