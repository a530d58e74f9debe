// Convolutions that are products of matrices become such.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_POINTWISE_CONVOLUTIONS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_POINTWISE_CONVOLUTIONS_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Takes convolutions without groups whose window is one element, as those of 1×1 filters and their input gradients, or
// all of the input, as 1×1 filters' gradients. Others are left, and padded, strided, dilated and small ones: XLA would
// transpose images for their products.
absl::Status MakeProductsOfPointwiseConvolutions(xla::HloModule* module);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_POINTWISE_CONVOLUTIONS_H_
