#include "plugin/backends/emulator/hlo_passes/sparse_product_pass.h"

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "plugin/backends/common/hlo/instructions.h"
#include "plugin/backends/emulator/kernels/sparse_product.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/xla_compat.h"
#include "xla/literal.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Below this size, a kernel call costs as much as it saves.
constexpr int64_t kMinSparseProductElements = 4096;
// Limits of a matrix. They keep recipes small and the evaluator's time below a second.
constexpr int64_t kMaxMatrixElements = 1 << 18;
constexpr int64_t kMaxEntries = 1 << 14;

bool IsCheapToEvaluate(const HloInstruction* instruction) {
  if (!instruction->shape().IsArray() || xla::ShapeUtil::ElementsIn(instruction->shape()) > kMaxMatrixElements)
    return false;
  switch (instruction->opcode()) {
    case HloOpcode::kBroadcast:
    case HloOpcode::kConstant:
    case HloOpcode::kIota:
    case HloOpcode::kReduce:
    case HloOpcode::kReshape:
    case HloOpcode::kTranspose:
      return true;
    default:
      return instruction->IsElementwise() && instruction->operand_count() > 0;
  }
}

bool IsConstant(HloInstruction* value) {
  absl::flat_hash_set<const HloInstruction*> visited = {value};
  std::vector<const HloInstruction*> unvisited = {value};
  while (!unvisited.empty()) {
    const HloInstruction* instruction = unvisited.back();
    unvisited.pop_back();
    if (!IsCheapToEvaluate(instruction)) return false;
    for (const HloInstruction* operand : instruction->operands()) {
      if (visited.insert(operand).second) unvisited.push_back(operand);
    }
  }
  return true;
}

// Nonzero elements, by index of the free dimension; no rows if there are too many nonzero elements.
SparseMatrix EntriesOf(const xla::Literal& matrix, int64_t contracted) {
  const int64_t to = matrix.shape().dimensions(1 - contracted), from = matrix.shape().dimensions(contracted);
  SparseMatrix sparse;
  sparse.rows.resize(to);
  int64_t entries = 0;
  for (int64_t row = 0; row < to; ++row) {
    for (int64_t column = 0; column < from; ++column) {
      const auto index = contracted == 1 ? std::array{row, column} : std::array{column, row};
      const double weight = matrix.GetAsDouble(index).value_or(0);
      if (weight == 0) continue;
      sparse.rows[row].push_back({column, weight});
      ++entries;
    }
  }
  if (entries > kMaxEntries || 2 * entries > to * from) sparse.rows.clear();
  return sparse;
}

// A product of a matrix with one dimension of an array. The dimension keeps its position.
struct MatrixProduct {
  HloInstruction* matrix;
  int64_t contracted;  // contracted dimension of the matrix
  HloInstruction* array;
  int64_t dimension;  // contracted dimension of the array
};

std::optional<MatrixProduct> MatrixProductOf(HloInstruction* dot) {
  const xla::DotDimensionNumbers& numbers = dot->dot_dimension_numbers();
  HloInstruction *matrix = dot->mutable_operand(0), *array = dot->mutable_operand(1);
  const xla::PrimitiveType type = dot->shape().element_type();
  const auto is_array = [type](const HloInstruction* value) {
    return hlo::IsPlainArray(value->shape()) && value->shape().element_type() == type;
  };
  if ((type != xla::F32 && type != xla::F64) || !is_array(dot) || !is_array(matrix) || !is_array(array) ||
      matrix->shape().dimensions_size() != 2 || numbers.lhs_batch_dimensions_size() != 0 ||
      numbers.lhs_contracting_dimensions_size() != 1 || !IsConstant(matrix)) {
    return std::nullopt;
  }
  return MatrixProduct{matrix, numbers.lhs_contracting_dimensions(0), array, numbers.rhs_contracting_dimensions(0)};
}

// True if the transposition moves the product's first dimension to `dimension` and keeps the order of the other
// dimensions.
bool RestoresDimension(const HloInstruction* transpose, int64_t dimension) {
  for (int64_t i = 0; i < transpose->shape().dimensions_size(); ++i) {
    const int64_t from = i < dimension ? i + 1 : i == dimension ? 0 : i;
    if (transpose->dimensions(i) != from) return false;
  }
  return true;
}

std::optional<MatrixProduct> ProductBehind(HloInstruction* value) {
  HloInstruction* dot = value->opcode() == HloOpcode::kTranspose ? value->mutable_operand(0) : value;
  if (dot->opcode() != HloOpcode::kDot || (dot != value && dot->user_count() != 1)) return std::nullopt;
  const std::optional<MatrixProduct> product = MatrixProductOf(dot);
  if (!product.has_value()) return std::nullopt;
  const bool stays = dot == value ? product->dimension == 0 : RestoresDimension(value, product->dimension);
  return stays ? product : std::nullopt;
}

absl::StatusOr<SparseMatrix> SparseMatrixOf(const MatrixProduct& product) {
  HPU_ASSIGN_OR_RETURN(const xla::Literal matrix, compat::EvaluateRecursively(product.matrix));
  return EntriesOf(matrix, product.contracted);
}

// True if the value is only used by a product with the next dimension, so that one kernel computes both.
absl::StatusOr<bool> IsPartOfNext(HloInstruction* value, int64_t dimension) {
  if (value->user_count() != 1 || value->users()[0]->user_count() != 1) return false;
  const std::optional<MatrixProduct> next = ProductBehind(value->users()[0]->users()[0]);
  if (!next.has_value() || next->array != value || next->dimension != dimension + 1) return false;
  HPU_ASSIGN_OR_RETURN(const SparseMatrix matrix, SparseMatrixOf(*next));
  return !matrix.rows.empty();
}

absl::StatusOr<HloInstruction*> SparseProductKernel(HloInstruction* value, KernelCalls* calls) {
  const std::optional<MatrixProduct> last = ProductBehind(value);
  if (!last.has_value() || xla::ShapeUtil::ElementsIn(value->shape()) < kMinSparseProductElements) return nullptr;
  const int64_t dimension = last->dimension;
  HPU_ASSIGN_OR_RETURN(const bool is_part, IsPartOfNext(value, dimension));
  if (is_part) return nullptr;
  HPU_ASSIGN_OR_RETURN(SparseMatrix matrix, SparseMatrixOf(*last));
  if (matrix.rows.empty()) return nullptr;

  HloInstruction* array = last->array;
  SparseProduct kernel;
  const std::optional<MatrixProduct> first = array->user_count() == 1 ? ProductBehind(array) : std::nullopt;
  if (first.has_value() && first->dimension + 1 == dimension) {
    HPU_ASSIGN_OR_RETURN(kernel.vertical, SparseMatrixOf(*first));
    if (!kernel.vertical.rows.empty()) array = first->array;
  }
  const xla::Shape& shape = array->shape();
  kernel.is_float64 = shape.element_type() == xla::F64;
  for (int64_t i = 0; i < shape.dimensions_size(); ++i) {
    const bool is_height = i == dimension - 1 && !kernel.vertical.rows.empty();
    (is_height        ? kernel.height
     : i < dimension  ? kernel.outer
     : i == dimension ? kernel.width
                      : kernel.inner) *= shape.dimensions(i);
  }
  kernel.horizontal = std::move(matrix);
  return calls->Add(kernel.Spec(), {array}, value->shape());
}

}  // namespace

absl::Status UseSparseProductKernels(xla::HloModule* module, KernelCalls* calls) {
  const auto kernel_of = [calls](HloInstruction* value) { return SparseProductKernel(value, calls); };
  HPU_RETURN_IF_ERROR(ReplaceAll(module, HloOpcode::kTranspose, kernel_of));
  return ReplaceAll(module, HloOpcode::kDot, kernel_of);
}

}  // namespace hpu::emulator
