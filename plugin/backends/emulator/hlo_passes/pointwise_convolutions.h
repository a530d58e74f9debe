// Pass that rewrites pointwise convolutions as matrix products.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_POINTWISE_CONVOLUTIONS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_POINTWISE_CONVOLUTIONS_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Rewrites ungrouped convolutions whose window is one element (1×1 filters and their input gradients) or the whole
// input (filter gradients of 1×1 filters). Padded, strided and dilated convolutions stay unchanged. Small convolutions
// also stay unchanged, because XLA would transpose the image for a product without a kernel.
absl::Status MakeProductsOfPointwiseConvolutions(xla::HloModule* module);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_POINTWISE_CONVOLUTIONS_H_
