// Marked calls: HLO calls that a backend may replace by its own kernel.
#ifndef HPU_PLUGIN_PROGRAM_MARKED_CALL_H_
#define HPU_PLUGIN_PROGRAM_MARKED_CALL_H_

namespace hpu {

// A frontend attribute of HLO call instructions. Its value is the name of an operation in the table below, followed by
// attributes of the operation, separated by spaces: "linear_algebra Qr full_matrices". The called computation defines
// the result with plain HLO instructions. A backend with a better implementation may replace the call; other backends
// ignore the attribute. No operand or result is empty.
//
// | operation                     | operands                                           | result                      |
// |-------------------------------|----------------------------------------------------|-----------------------------|
// | linear_algebra <op> <flags>   | the op's                                           | the op's                    |
inline constexpr char kOperationAttribute[] = "hpu_operation";

// A linear algebra op: the name of the TensorFlow op, followed by the names of its boolean attributes that are true.
// Results that the op does not compute (compute_uv=false) are omitted.
inline constexpr char kLinearAlgebra[] = "linear_algebra";

}  // namespace hpu

#endif  // HPU_PLUGIN_PROGRAM_MARKED_CALL_H_
