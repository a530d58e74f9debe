// Kernels for matrix factorisations, linear systems, inverses, determinants and eigenvalues.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_LINEAR_ALGEBRA_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_LINEAR_ALGEBRA_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// A TensorFlow op on [batch, rows, columns], and on [batch, columns, right_sides] if the op solves linear systems.
// TensorFlow's op fails if a matrix is singular or not positive definite, or if the algorithm does not converge. The
// kernel returns NaN for such a matrix, and 0 for the matrix's row order; other matrices of the batch are not affected.
struct LinearAlgebra {
  enum class Op : int64_t {
    kCholesky = 0,
    kTriangularSolve = 1,  // lower, adjoint
    kSolve = 2,            // adjoint
    kInverse = 3,          // adjoint
    kDeterminant = 4,
    kLogDeterminant = 5,     // returns sign and logarithm
    kQr = 6,                 // full_matrices; returns q and r
    kEigen = 7,              // compute_vectors; returns eigenvalues and eigenvectors
    kSvd = 8,                // compute_vectors, full_matrices; returns s, u and v
    kLu = 9,                 // returns the factors, and the order of the rows as int32
    kTridiagonalSolve = 10,  // pivoting, perturbing; the operand's rows are the three diagonals
  };
  Op op = Op::kCholesky;
  bool of_doubles = false;  // else float32
  bool lower = false;
  bool adjoint = false;
  bool full_matrices = false;
  bool compute_vectors = false;
  bool pivoting = false;
  bool perturbing = false;
  int64_t batch = 0;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t right_sides = 0;

  bool Solves() const { return op == Op::kTriangularSolve || op == Op::kSolve || op == Op::kTridiagonalSolve; }
  // The Op with this TensorFlow name; nullopt if there is none.
  static std::optional<Op> Named(absl::string_view name);
  // InvalidArgument unless all sizes are positive and valid for the op.
  absl::Status Check() const;
  KernelSpec Spec() const;
  // Shape of each result for one matrix of the batch.
  std::vector<std::vector<int64_t>> ResultShapes() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_LINEAR_ALGEBRA_H_
