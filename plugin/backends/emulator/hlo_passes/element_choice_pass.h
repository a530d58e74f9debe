// Pass that turns selections of row elements by comparison into gathers.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_ELEMENT_CHOICE_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_ELEMENT_CHOICE_PASS_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Matches the selection of one element from each row of a matrix. It is written as the maximum or minimum of a row
// whose other elements are the least or greatest number. Programs avoid gathers because a gather contains the number of
// rows, and programs with a fixed number of rows cannot be padded. When this pass runs, the padding is final.
absl::Status ReadChosenElements(xla::HloModule* module);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_ELEMENT_CHOICE_PASS_H_
