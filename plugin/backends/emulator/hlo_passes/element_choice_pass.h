// Elements that a program picks out of rows by comparing numbers are read where they lie.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_ELEMENT_CHOICE_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_ELEMENT_CHOICE_PASS_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// One element of each row of a matrix, written as the maximum or minimum of a row in which all others are the least or
// greatest number, becomes a gather. Programs write it so because a gather numbers the rows, and rows of a program that
// has their number cannot be padded; by the time this pass runs, padding is settled.
absl::Status ReadChosenElements(xla::HloModule* module);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_ELEMENT_CHOICE_PASS_H_
