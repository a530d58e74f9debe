#include "plugin/backends/emulator/hlo_passes/linear_algebra_pass.h"

#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_split.h"
#include "plugin/backends/emulator/kernels/linear_algebra.h"
#include "plugin/base/status_macros.h"
#include "plugin/program/marked_call.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using Op = LinearAlgebra::Op;

int64_t Product(const std::vector<int64_t>& sizes) {
  int64_t product = 1;
  for (const int64_t size : sizes) product *= size;
  return product;
}

bool HasElements(const xla::Shape& shape, xla::PrimitiveType type, int64_t elements) {
  return shape.IsArray() && shape.is_static() && shape.element_type() == type &&
         xla::ShapeUtil::ElementsIn(shape) == elements;
}

// Whether types and sizes of the arrays match the kernel. Checked because any call may have the attribute.
bool FitsFactorization(const LinearAlgebra& kernel, const HloInstruction& call) {
  const xla::PrimitiveType type = call.operand(0)->shape().element_type();
  if (call.operand_count() != (kernel.Solves() ? 2 : 1)) return false;
  if (kernel.Solves() &&
      !HasElements(call.operand(1)->shape(), type, kernel.batch * kernel.columns * kernel.right_sides)) {
    return false;
  }
  const std::vector<std::vector<int64_t>> results = kernel.ResultShapes();
  const bool is_tuple = call.shape().IsTuple();
  if (is_tuple ? call.shape().tuple_shapes_size() != static_cast<int>(results.size()) : results.size() != 1) {
    return false;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const xla::Shape& shape = is_tuple ? call.shape().tuple_shapes(static_cast<int>(i)) : call.shape();
    const bool is_order = kernel.op == Op::kLu && i == 1;
    if (!HasElements(shape, is_order ? xla::S32 : type, kernel.batch * Product(results[i]))) return false;
  }
  return true;
}

// Fills in the sizes and calls the kernel; null if the kernel does not support the arrays.
absl::StatusOr<HloInstruction*> FactorizationCall(LinearAlgebra kernel, HloInstruction* instruction,
                                                  KernelCalls* calls) {
  for (const HloInstruction* operand : instruction->operands()) {
    const xla::Shape& shape = operand->shape();
    const bool known = shape.IsArray() && shape.is_static() && shape.dimensions_size() >= 2 &&
                       (shape.element_type() == xla::F32 || shape.element_type() == xla::F64);
    if (!known) return nullptr;
  }
  if (instruction->operand_count() == 0) return nullptr;
  const xla::Shape& matrices = instruction->operand(0)->shape();
  const int64_t rank = matrices.dimensions_size();
  kernel.of_doubles = matrices.element_type() == xla::F64;
  kernel.batch = 1;
  for (int64_t i = 0; i < rank - 2; ++i) kernel.batch *= matrices.dimensions(i);
  kernel.rows = matrices.dimensions(rank - 2);
  kernel.columns = matrices.dimensions(rank - 1);
  if (kernel.Solves() && instruction->operand_count() != 2) return nullptr;
  if (kernel.Solves()) kernel.right_sides = instruction->operand(1)->shape().dimensions().back();
  if (!kernel.Check().ok() || !FitsFactorization(kernel, *instruction)) return nullptr;
  return calls->Add(kernel.Spec(), instruction->operands(), instruction->shape());
}

absl::StatusOr<HloInstruction*> KernelOfCall(HloInstruction* call, const std::string& text, KernelCalls* calls) {
  const std::vector<std::string> words = absl::StrSplit(text, ' ');
  const std::optional<Op> op = LinearAlgebra::Named(words[0]);
  if (!op.has_value()) return nullptr;
  const auto has = [&words](const char* name) { return absl::c_linear_search(words, name); };
  LinearAlgebra kernel;
  kernel.op = *op;
  kernel.adjoint = has("adjoint");
  kernel.full_matrices = has("full_matrices");
  kernel.compute_vectors = has("compute_uv") || has("compute_v");
  kernel.pivoting = has("partial_pivoting");
  kernel.perturbing = has("perturb_singular");
  return FactorizationCall(kernel, call, calls);
}

absl::StatusOr<HloInstruction*> KernelOfCholesky(HloInstruction* cholesky, KernelCalls* calls) {
  if (!cholesky->cholesky_options().lower()) return nullptr;
  LinearAlgebra kernel;
  kernel.op = Op::kCholesky;
  return FactorizationCall(kernel, cholesky, calls);
}

absl::StatusOr<HloInstruction*> KernelOfSolve(HloInstruction* solve, KernelCalls* calls) {
  const xla::TriangularSolveOptions& options = solve->triangular_solve_options();
  if (!options.left_side() || options.unit_diagonal()) return nullptr;
  LinearAlgebra kernel;
  kernel.op = Op::kTriangularSolve;
  kernel.lower = options.lower();
  kernel.adjoint = options.transpose_a() != xla::TriangularSolveOptions::NO_TRANSPOSE;
  return FactorizationCall(kernel, solve, calls);
}

}  // namespace

absl::Status UseLinearAlgebraKernels(xla::HloModule* module, KernelCalls* calls) {
  HPU_RETURN_IF_ERROR(ReplaceMarkedCalls(
      module, kLinearAlgebra,
      [calls](HloInstruction* call, const std::string& text) { return KernelOfCall(call, text, calls); }));
  HPU_RETURN_IF_ERROR(ReplaceAll(module, HloOpcode::kCholesky,
                                 [calls](HloInstruction* cholesky) { return KernelOfCholesky(cholesky, calls); }));
  return ReplaceAll(module, HloOpcode::kTriangularSolve,
                    [calls](HloInstruction* solve) { return KernelOfSolve(solve, calls); });
}

}  // namespace hpu::emulator
