#include "plugin/backends/emulator/hlo_passes/matmul_pass.h"

#include <cstdint>
#include <optional>

#include "plugin/backends/emulator/kernels/matmul.h"
#include "plugin/hal/status_macros.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;

// Below, a call costs as much as it saves.
constexpr int64_t kLeastProducts = 1 << 20;

// One operand as a matrix: its contracted dimensions lie together, in order, at its begin or its end.
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
  matrix.contracted_first = contracted[0] == 0 && count < shape.rank();
  const int64_t first = matrix.contracted_first ? 0 : shape.rank() - count;
  for (int64_t i = 0; i < count; ++i) {
    if (contracted[i] != first + i) return std::nullopt;
  }
  for (int64_t i = 0; i < shape.rank(); ++i) {
    (i >= first && i < first + count ? matrix.contracted : matrix.kept) *= shape.dimensions(i);
  }
  return matrix;
}

absl::StatusOr<HloInstruction*> KernelOf(HloInstruction* dot, KernelCalls* calls) {
  const xla::Shape &a = dot->operand(0)->shape(), &b = dot->operand(1)->shape();
  const xla::DotDimensionNumbers& numbers = dot->dot_dimension_numbers();
  if (!IsFloatArray(dot->shape()) || !IsFloatArray(a) || !IsFloatArray(b) || a.element_type() != b.element_type() ||
      a.element_type() != dot->shape().element_type() || numbers.lhs_batch_dimensions_size() > 0) {
    return nullptr;
  }
  const auto left = MatrixOf(a, numbers.lhs_contracting_dimensions());
  const auto right = MatrixOf(b, numbers.rhs_contracting_dimensions());
  if (!left.has_value() || !right.has_value()) return nullptr;
  MatMul kernel;
  kernel.bfloat16 = a.element_type() == xla::BF16;
  kernel.transpose_a = left->contracted_first;
  kernel.transpose_b = !right->contracted_first;
  kernel.rows = left->kept;
  kernel.inner = left->contracted;
  kernel.columns = right->kept;
  if (kernel.rows * kernel.inner * kernel.columns < kLeastProducts || kernel.rows == 1 || kernel.columns == 1) {
    return nullptr;
  }
  // Without oneDNN there is none.
  if (!MakeKernel(kernel.Spec()).ok()) return nullptr;
  const bool by_rule = kernel.bfloat16 || (kernel.transpose_a && !kernel.transpose_b);
  HPU_ASSIGN_OR_RETURN(const bool prefers, calls->Prefers(kernel.Spec(), *dot, by_rule));
  if (!prefers) return nullptr;
  return calls->Add(kernel.Spec(), dot->operands(), dot->shape());
}

}  // namespace

absl::Status UseMatMulKernels(xla::HloModule* module, KernelCalls* calls) {
  return ReplaceAll(module, xla::HloOpcode::kDot, [calls](HloInstruction* dot) { return KernelOf(dot, calls); });
}

}  // namespace hpu::emulator
