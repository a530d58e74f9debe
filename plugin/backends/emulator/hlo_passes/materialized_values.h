// Values that lie in memory are read from there, instead of being computed anew.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MATERIALIZED_VALUES_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MATERIALIZED_VALUES_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// XLA fuses cheap elementwise work into each of its consumers. Where a kernel needs the value in memory too, that is
// nothing won: what it is made of, a convolution's result before its rectifier say, stays in memory beside it until the
// last of them has read it; and where the value is a sum that goes on from layer to layer, every layer adds up all
// those before it, or rounds to bfloat16 again what was rounded. Nor is it won where XLA fuses a reshape of the last
// dimension behind it, be it elementwise work or a transposition of rows. This pass, which runs before XLA's, puts a
// call between such values and their consumers, which XLA does not fuse through.
absl::Status KeepValues(xla::HloModule* module);

// Takes the calls out again, after XLA's passes.
absl::Status ReleaseValues(xla::HloModule* module);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MATERIALIZED_VALUES_H_
