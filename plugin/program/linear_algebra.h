// How programs say that a call computes an op of linear algebra as a whole.
#ifndef HPU_PLUGIN_PROGRAM_LINEAR_ALGEBRA_H_
#define HPU_PLUGIN_PROGRAM_LINEAR_ALGEBRA_H_

namespace hpu::hal {

// A frontend attribute of HLO's call instructions. Its value is the name of TensorFlow's op and the names of its
// attributes that are true, with a space between them: "Qr full_matrices". Operands and results are those of the op, as
// far as it makes them. What is called computes the same from simpler instructions: a backend that knows the op better
// may replace the call, others need not look at the attribute.
inline constexpr char kLinearAlgebraAttribute[] = "hpu_linear_algebra";

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_PROGRAM_LINEAR_ALGEBRA_H_
