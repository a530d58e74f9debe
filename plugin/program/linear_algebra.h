// Frontend attribute for calls that compute an op of linear algebra.
#ifndef HPU_PLUGIN_PROGRAM_LINEAR_ALGEBRA_H_
#define HPU_PLUGIN_PROGRAM_LINEAR_ALGEBRA_H_

namespace hpu::hal {

// A frontend attribute of HLO call instructions. Its value is the name of TensorFlow's op, followed by the names of its
// true attributes, separated by spaces: "Qr full_matrices". Operands and results are the op's; results that the op does
// not compute are left out. The called computation computes the same with simpler instructions. A backend with a better
// implementation may replace the call; other backends ignore the attribute.
inline constexpr char kLinearAlgebraAttribute[] = "hpu_linear_algebra";

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_PROGRAM_LINEAR_ALGEBRA_H_
