// Pass that replaces products with sparse constant matrices by kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SPARSE_PRODUCT_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SPARSE_PRODUCT_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Replaces float32 products of a constant matrix with one dimension of an array. The matrix may be computed, but only
// from constants. Includes a following transposition that restores the order of dimensions. Image resizing and its
// gradients have this form. Must run before the passes for other products.
absl::Status UseSparseProductKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_SPARSE_PRODUCT_PASS_H_
