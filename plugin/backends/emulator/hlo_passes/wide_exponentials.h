// Pass that expands exponentials of float64 into vectorisable arithmetic.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_WIDE_EXPONENTIALS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_WIDE_EXPONENTIALS_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// XLA calls the C library for each float64 exponential. This pass expands array exponentials inline. An exponential
// outside fusions first becomes a new fusion. The pass runs after XLA's passes, so that XLA treats exponentials as
// expensive and does not duplicate them. The error is at most 2 ULP. Denormal results are kept unless the thread
// flushes them.
absl::Status ExpandWideExponentials(xla::HloModule* module);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_WIDE_EXPONENTIALS_H_
