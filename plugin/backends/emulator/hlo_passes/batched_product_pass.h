// Pass that replaces batches of small matrix products, as in attention, by kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_BATCHED_PRODUCT_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_BATCHED_PRODUCT_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Replaces float32 products with batch dimensions. The operands' dimensions may have any order in which the free
// dimensions merge into one dimension, and the contracted dimensions into another.
absl::Status UseBatchedProductKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_BATCHED_PRODUCT_PASS_H_
