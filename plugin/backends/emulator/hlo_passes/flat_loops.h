// Pass that flattens loops over arrays with a short last dimension into loops over one row.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_FLAT_LOOPS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_FLAT_LOOPS_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// XLA vectorises only along the last dimension: for images with three channels, three elements at a time. This pass
// runs after XLA's passes. It reshapes each elementwise loop over such an array to a single row, with bitcasts around
// the loop. A loop split over threads keeps its number of parts. Results do not change.
absl::Status FlattenLoops(xla::HloModule* module);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_FLAT_LOOPS_H_
