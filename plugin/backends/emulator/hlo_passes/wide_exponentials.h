// Exponentials of float64 that become vector code.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_WIDE_EXPONENTIALS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_WIDE_EXPONENTIALS_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// XLA calls the C library for each exponential of float64. This writes those of arrays as arithmetic inside fusions, to
// be run after XLA's passes, which then know them for expensive and do not repeat them. Results differ from the exact
// ones by two units in the last place at most; denormal ones are kept unless the thread flushes them.
absl::Status ExpandWideExponentials(xla::HloModule* module);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_WIDE_EXPONENTIALS_H_
