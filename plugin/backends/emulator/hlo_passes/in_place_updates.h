// Updates of variables in their own memory, where all that reads the old value can be done before.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_IN_PLACE_UPDATES_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_IN_PLACE_UPDATES_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// XLA copies an argument whose memory a result takes, unless each of its readers comes before the update whatever the
// schedule. This pass, which runs after XLA's, makes them come before by control dependencies, and removes the copy.
// Copies stay where a reader needs the updated value, and where the update does not go element by element.
absl::Status UpdateInPlace(xla::HloModule* module);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_IN_PLACE_UPDATES_H_
