// Recognition of the select function by which select-and-scatter finds the first maximum of a window.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_FIRST_MAXIMUM_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_FIRST_MAXIMUM_H_

#include "xla/hlo/ir/hlo_computation.h"

namespace hpu::emulator {

// True if `select` keeps the first of two scalars unless the second is greater. Applied in order, it selects the same
// element as TensorFlow's CPU kernels: a NaN counts only if it comes first.
bool SelectsFirstMaximum(const xla::HloComputation* select);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_FIRST_MAXIMUM_H_
