// Gaussian elimination in HLO's simpler instructions, with loops over the rows of all matrices at once.
#ifndef HPU_PLUGIN_COMPILER_LOWERINGS_ELIMINATION_H_
#define HPU_PLUGIN_COMPILER_LOWERINGS_ELIMINATION_H_

#include "xla/client/xla_builder.h"
#include "xla/shape.h"

namespace hpu {

struct LuFactors {
  xla::XlaOp factors;  // U, and below the diagonal L, whose diagonal is 1
  xla::XlaOp order;    // int32: row i of L·U is row order[i] of the matrix
};

// With partial pivoting, of square matrices [..., n, n].
LuFactors FactorByElimination(xla::XlaOp matrices, const xla::Shape& shape);

// Solves systems of `diagonals` [..., 3, n], the upper one first, for `right` [..., n, k], as
// tf.linalg.tridiagonal_solve says in its compact format; `pivoting` exchanges rows.
xla::XlaOp SolveTridiagonal(xla::XlaOp diagonals, xla::XlaOp right, const xla::Shape& right_shape, bool pivoting);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_LOWERINGS_ELIMINATION_H_
