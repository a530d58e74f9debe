// Passes that stop XLA from recomputing values that are already materialised.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MATERIALIZED_VALUES_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MATERIALIZED_VALUES_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// XLA fuses cheap elementwise work into each consumer. If a kernel needs the value in memory anyway, fusion gains
// nothing and costs memory. The value's operands, for example a convolution's result before its ReLU, stay allocated
// until the last consumer has read them. Fusion also repeats work: in a residual network, every layer adds up all
// earlier layers again. A fused reshape of the last dimension makes the loop divide indices for each element.
// KeepValues runs before XLA's passes. It puts a custom call between such values and their consumers, because XLA does
// not fuse through custom calls.
absl::Status KeepValues(xla::HloModule* module);

// Replaces the custom calls after XLA's passes: by their operands, or by copies if other instructions use the operands.
absl::Status ReleaseValues(xla::HloModule* module);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_MATERIALIZED_VALUES_H_
