// Factorisations of matrices, and what they are made for: solving, inverses, determinants, eigenvalues.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_LINEAR_ALGEBRA_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_LINEAR_ALGEBRA_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "plugin/backends/emulator/kernels/kernel.h"

namespace hpu::emulator {

// An op of TensorFlow's on [batch, rows, columns], and [batch, columns, right_sides] where it solves. A matrix for
// which the op is an error there (it is singular, not positive definite, or nothing converges) gets results of NaN, and
// an order of 0; the other matrices of the batch are not concerned.
struct LinearAlgebra {
  enum class Op : int64_t {
    kCholesky = 0,
    kTriangularSolve = 1,  // lower, adjoint
    kSolve = 2,            // adjoint
    kInverse = 3,          // adjoint
    kDeterminant = 4,
    kLogDeterminant = 5,     // makes sign and logarithm
    kQr = 6,                 // full_matrices; makes q and r
    kEigen = 7,              // compute_vectors; makes eigenvalues and eigenvectors
    kSvd = 8,                // compute_vectors, full_matrices; makes s, u and v
    kLu = 9,                 // makes factors, and the order of their rows as int32
    kTridiagonalSolve = 10,  // pivoting, perturbing; three diagonals for rows
  };
  Op op = Op::kCholesky;
  bool of_doubles = false;  // else of float32
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
  // The op of TensorFlow's that has this name.
  static std::optional<Op> Named(absl::string_view name);
  // InvalidArgument unless all sizes are positive and fit the op.
  absl::Status Check() const;
  KernelSpec Spec() const;
  // The sizes of each result for one matrix of the batch.
  std::vector<std::vector<int64_t>> ResultShapes() const;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_LINEAR_ALGEBRA_H_
