// Pass that turns selections of row elements by comparison into gathers.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_ELEMENT_CHOICE_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_ELEMENT_CHOICE_PASS_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Replaces the selection of one element from each row of a matrix. Programs write it as a maximum (minimum) over the
// row after a select has set the other elements to -infinity (infinity). Such programs avoid gathers, because a gather
// fixes the number of rows, and a program with a fixed number of rows cannot be padded. When this pass runs, the
// padding is final.
absl::Status ReadChosenElements(xla::HloModule* module);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_ELEMENT_CHOICE_PASS_H_
