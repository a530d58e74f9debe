// Passes that stop XLA from recomputing values that are already materialised.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MATERIALIZED_VALUES_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MATERIALIZED_VALUES_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// XLA fuses cheap elementwise work into each of its consumers. If a kernel needs the value in memory anyway, that gains
// nothing and costs memory: the value's operands, for example a convolution's result before its rectifier, stay in
// memory until the last consumer has read them. If the value is a sum that continues from layer to layer, every layer
// adds all earlier layers again, or rounds to bfloat16 again. Fusion also gains nothing if a reshape of the last
// dimension follows the value, be it elementwise work or a transposition of rows. This pass runs before XLA's. It puts
// a call between such values and their consumers, because XLA does not fuse through calls.
absl::Status KeepValues(xla::HloModule* module);

// Removes the calls after XLA's passes.
absl::Status ReleaseValues(xla::HloModule* module);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MATERIALIZED_VALUES_H_
