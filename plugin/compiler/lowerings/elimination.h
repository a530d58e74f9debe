// Gaussian elimination in simple HLO instructions. Each loop step processes all matrices of the batch.
#ifndef HPU_PLUGIN_COMPILER_LOWERINGS_ELIMINATION_H_
#define HPU_PLUGIN_COMPILER_LOWERINGS_ELIMINATION_H_

#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape.h"

namespace hpu {

struct LuFactors {
  xla::XlaOp factors;  // U on and above the diagonal, L below; the diagonal of L is 1
  xla::XlaOp order;    // int32: row i of L·U is row order[i] of the matrix
};

// LU factors of square matrices [..., n, n], with partial pivoting. A column without a pivot other than 0 is not
// eliminated, so a singular matrix has a 0 on the diagonal of U.
LuFactors FactorByElimination(xla::XlaOp matrices, const xla::Shape& shape);

// Solves tridiagonal systems with `diagonals` [..., 3, n], the upper diagonal first, and `right` [..., n, k]. This is
// the compact format of tf.linalg.tridiagonal_solve. `pivoting` enables row exchanges.
xla::XlaOp SolveTridiagonal(xla::XlaOp diagonals, xla::XlaOp right, const xla::Shape& right_shape, bool pivoting);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_LOWERINGS_ELIMINATION_H_
