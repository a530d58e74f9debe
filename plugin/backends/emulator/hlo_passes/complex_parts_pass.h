// Complex numbers whose parts are computed each on its own.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_COMPLEX_PARTS_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_COMPLEX_PARTS_PASS_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Takes what the gradient of an absolute value and scaled Fourier transforms have: quotients whose divisor was made of
// a real number, and choices between complex numbers. XLA keeps such pairs in one value, which LLVM does not vectorise.
// A quotient's zeros have XLA's signs, and a part that is infinite or NaN makes NaN of the other one, as XLA and
// TensorFlow's own kernels have it. Only where XLA looks at quotients of NaN in both parts again, for infinite numbers,
// they stay NaN here.
absl::Status ComputeComplexParts(xla::HloModule* module);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_COMPLEX_PARTS_PASS_H_
