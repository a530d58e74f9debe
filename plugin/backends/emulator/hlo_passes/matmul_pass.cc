#include "plugin/backends/emulator/hlo_passes/matmul_pass.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "plugin/backends/common/hlo/instructions.h"
#include "plugin/backends/emulator/kernels/matmul.h"
#include "plugin/backends/emulator/kernels/one_dnn.h"
#include "plugin/base/status_macros.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;

// With fewer multiplications, a call costs as much as it saves. For bfloat16, the limit is lower if only the second
// operand is transposed, because XLA's product is slowest then.
constexpr int64_t kMinProducts = 1 << 20;
constexpr int64_t kMinTransposedBfloat16Products = 1 << 18;

// One operand as a matrix: its contracted dimensions are adjacent, in order, and come first or last.
struct Matrix {
  int64_t kept = 1;
  int64_t contracted = 1;
  bool contracted_first = false;
};

template <typename Dimensions>
std::optional<Matrix> MatrixOf(const xla::Shape& shape, const Dimensions& contracted) {
  Matrix matrix;
  const int64_t count = contracted.size();
  if (count == 0) return std::nullopt;
  matrix.contracted_first = contracted[0] == 0 && count < shape.dimensions_size();
  const int64_t first = matrix.contracted_first ? 0 : shape.dimensions_size() - count;
  for (int64_t i = 0; i < count; ++i) {
    if (contracted[i] != first + i) return std::nullopt;
  }
  for (int64_t i = 0; i < shape.dimensions_size(); ++i) {
    (i >= first && i < first + count ? matrix.contracted : matrix.kept) *= shape.dimensions(i);
  }
  return matrix;
}

// Replaces a product by a kernel. The matrices are the operands of the dot, exchanged if its result is transposed.
absl::StatusOr<HloInstruction*> MatmulKernel(HloInstruction* dot, const HloInstruction* transpose, KernelCalls* calls) {
  const xla::Shape &a = dot->operand(0)->shape(), &b = dot->operand(1)->shape();
  const xla::DotDimensionNumbers& numbers = dot->dot_dimension_numbers();
  if (!hlo::IsFloatArray(dot->shape()) || !hlo::IsFloatArray(a) || !hlo::IsFloatArray(b) ||
      a.element_type() != b.element_type() || a.element_type() != dot->shape().element_type() ||
      numbers.lhs_batch_dimensions_size() > 0) {
    return nullptr;
  }
  auto left = MatrixOf(a, numbers.lhs_contracting_dimensions());
  auto right = MatrixOf(b, numbers.rhs_contracting_dimensions());
  if (!left.has_value() || !right.has_value()) return nullptr;
  std::vector<HloInstruction*> operands(dot->operands().begin(), dot->operands().end());
  if (transpose != nullptr) {
    std::swap(left, right);
    std::swap(operands[0], operands[1]);
  }
  MatMul kernel;
  kernel.bfloat16 = a.element_type() == xla::BF16;
  kernel.transpose_a = left->contracted_first;
  kernel.transpose_b = !right->contracted_first;
  kernel.rows = left->kept;
  kernel.inner = left->contracted;
  kernel.columns = right->kept;
  if (!IsWorthAKernel(kernel)) return nullptr;
  HPU_ASSIGN_OR_RETURN(const bool prefers,
                       transpose == nullptr ? calls->Prefers(*dot) : calls->Prefers(*transpose, {dot}));
  if (!prefers) return nullptr;
  return calls->Add(kernel.Spec(), operands, (transpose == nullptr ? dot : transpose)->shape());
}

// Replaces a transposed product by the product of the exchanged operands. The transposition must put the second
// operand's dimensions first, as in einsum's gradients.
absl::StatusOr<HloInstruction*> ExchangedKernelOf(HloInstruction* transpose, KernelCalls* calls) {
  HloInstruction* dot = transpose->mutable_operand(0);
  if (dot->opcode() != xla::HloOpcode::kDot || dot->user_count() != 1) return nullptr;
  const int64_t rank = dot->shape().dimensions_size();
  const int64_t of_left =
      dot->operand(0)->shape().dimensions_size() - dot->dot_dimension_numbers().lhs_contracting_dimensions_size();
  for (int64_t i = 0; i < rank; ++i) {
    if (transpose->dimensions(i) != (i + of_left) % rank) return nullptr;
  }
  return MatmulKernel(dot, transpose, calls);
}

}  // namespace

bool IsWorthAKernel(const MatMul& product) {
  const bool fast = product.bfloat16 && product.transpose_b && !product.transpose_a;
  const int64_t min_products = fast ? kMinTransposedBfloat16Products : kMinProducts;
  return product.rows * product.inner * product.columns >= min_products && product.rows > 1 && product.columns > 1 &&
         UsesOneDnn("MatMul", product.bfloat16);
}

absl::Status UseMatMulKernels(xla::HloModule* module, KernelCalls* calls) {
  HPU_RETURN_IF_ERROR(ReplaceAll(module, xla::HloOpcode::kTranspose,
                                 [calls](HloInstruction* transpose) { return ExchangedKernelOf(transpose, calls); }));
  return ReplaceAll(module, xla::HloOpcode::kDot,
                    [calls](HloInstruction* dot) { return MatmulKernel(dot, /*transpose=*/nullptr, calls); });
}

}  // namespace hpu::emulator
