// Pass that splits complex quotients and selects into operations on real and imaginary parts.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_COMPLEX_PARTS_PASS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_COMPLEX_PARTS_PASS_H_

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hpu::emulator {

// Rewrites two patterns: quotients whose divisor was made from a real number, and selects between complex numbers.
// Gradients of absolute values and scaled Fourier transforms contain these patterns. XLA keeps real and imaginary part
// in one value, which LLVM does not vectorise. Zeros of a quotient have XLA's signs. An infinite or NaN part of the
// dividend makes the other part of the quotient NaN unless the divisor is 0. XLA and TensorFlow's kernels do the same.
// One difference remains: if both parts of a quotient are NaN, XLA recomputes them for infinite operands, but this pass
// leaves NaN.
absl::Status ComputeComplexParts(xla::HloModule* module);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_HLO_PASSES_COMPLEX_PARTS_PASS_H_
