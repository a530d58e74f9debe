// Pass that updates variables in place if every reader of the old value can run before the update.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_IN_PLACE_UPDATES_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_IN_PLACE_UPDATES_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// If a result uses the memory of an argument, XLA copies the argument unless every schedule runs its readers before the
// update. This pass runs after XLA's passes. It adds control dependencies that run the readers first, and removes the
// copy. The copy stays if a reader needs the updated value, or if the update reads the old value other than element by
// element.
absl::Status UpdateInPlace(xla::HloModule* module);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_IN_PLACE_UPDATES_H_
