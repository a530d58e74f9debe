// Pass that replaces batches of small matrix products, as in attention, by kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_BATCHED_PRODUCT_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_BATCHED_PRODUCT_PASS_H_

#include "absl/status/status.h"
#include "plugin/backends/emulator/hlo_passes/kernel_calls.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Replaces float32 products with batch dimensions, for any order of the operands' dimensions.
absl::Status UseBatchedProductKernels(xla::HloModule* module, KernelCalls* calls);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_BATCHED_PRODUCT_PASS_H_
