// Loops over arrays whose last dimension is short, as loops over all elements in one row.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_FLAT_LOOPS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_FLAT_LOOPS_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// XLA makes vectors along the last dimension alone: of images with three channels, one of three numbers at a time. This
// pass, which runs after XLA's, gives loops that compute each element from those in the same place the shape of one
// row, between bitcasts; split ones stay split in as many parts. The numbers are the same.
absl::Status FlattenLoops(xla::HloModule* module);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_FLAT_LOOPS_H_
