#include "plugin/backends/emulator/hlo_passes/batched_product_pass.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "plugin/backends/common/hlo/instructions.h"
#include "plugin/backends/emulator/kernels/batched_product.h"
#include "plugin/base/status_macros.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;

// With fewer multiplications, a kernel call costs as much as it saves.
constexpr int64_t kMinBatchedProducts = 1 << 13;
// Products with shorter sides resemble products with vectors, for which XLA's code is fast.
constexpr int64_t kMinSide = 4;
// A larger matrix does not stay in the L2 cache; Eigen, which XLA calls, is fast for such matrices.
constexpr int64_t kMaxProductElements = 1 << 17;

// Several dimensions of an array, treated as one.
struct ProductDimension {
  int64_t size = 1;
  int64_t stride = 1;
};

std::vector<int64_t> StridesOf(const xla::Shape& shape) {
  std::vector<int64_t> strides(shape.dimensions_size(), 1);
  for (int64_t i = shape.dimensions_size() - 1; i > 0; --i) strides[i - 1] = strides[i] * shape.dimensions(i);
  return strides;
}

// Merges the dimensions, in this order, into one. Returns nullopt if the strides do not allow it.
template <typename Dimensions>
std::optional<ProductDimension> Joined(const xla::Shape& shape, const Dimensions& dimensions) {
  const std::vector<int64_t> strides = StridesOf(shape);
  ProductDimension joined;
  for (const int64_t i : dimensions) {
    const int64_t size = shape.dimensions(i);
    if (size == 1) continue;
    if (joined.size > 1 && joined.stride != size * strides[i]) return std::nullopt;
    joined = {joined.size * size, strides[i]};
  }
  return joined;
}

template <typename Dimensions>
std::vector<int64_t> RemainingDimensions(int64_t rank, const Dimensions& contracted, const Dimensions& batch) {
  std::vector<int64_t> others;
  for (int64_t i = 0; i < rank; ++i) {
    if (!absl::c_linear_search(contracted, i) && !absl::c_linear_search(batch, i)) others.push_back(i);
  }
  return others;
}

std::vector<BatchedProduct::Batch> BatchesOf(const HloInstruction* dot) {
  const xla::DotDimensionNumbers& numbers = dot->dot_dimension_numbers();
  const xla::Shape& a = dot->operand(0)->shape();
  const std::vector<int64_t> a_strides = StridesOf(a), b_strides = StridesOf(dot->operand(1)->shape());
  std::vector<BatchedProduct::Batch> batches;
  for (int i = 0; i < numbers.lhs_batch_dimensions_size(); ++i) {
    const int64_t size = a.dimensions(numbers.lhs_batch_dimensions(i));
    if (size == 1) continue;
    batches.push_back({size, a_strides[numbers.lhs_batch_dimensions(i)], b_strides[numbers.rhs_batch_dimensions(i)]});
  }
  return batches;
}

absl::StatusOr<HloInstruction*> BatchedProductKernel(HloInstruction* dot, KernelCalls* calls) {
  const xla::Shape &a = dot->operand(0)->shape(), &b = dot->operand(1)->shape();
  if (!hlo::IsFloat32Array(dot->shape()) || !hlo::IsFloat32Array(a) || !hlo::IsFloat32Array(b)) return nullptr;
  const xla::DotDimensionNumbers& numbers = dot->dot_dimension_numbers();
  const auto &a_contracted = numbers.lhs_contracting_dimensions(), &b_contracted = numbers.rhs_contracting_dimensions();
  const auto a_inner = Joined(a, a_contracted), b_inner = Joined(b, b_contracted);
  const auto rows = Joined(a, RemainingDimensions(a.dimensions_size(), a_contracted, numbers.lhs_batch_dimensions()));
  const auto columns =
      Joined(b, RemainingDimensions(b.dimensions_size(), b_contracted, numbers.rhs_batch_dimensions()));
  if (!a_inner.has_value() || !b_inner.has_value() || !rows.has_value() || !columns.has_value()) return nullptr;
  BatchedProduct kernel{rows->size,      a_inner->size,   columns->size,   rows->stride,
                        a_inner->stride, b_inner->stride, columns->stride, BatchesOf(dot)};
  const int64_t products = xla::ShapeUtil::ElementsIn(dot->shape()) * kernel.inner;
  if (kernel.batches.empty() || kernel.rows < kMinSide || kernel.columns < kMinSide || products < kMinBatchedProducts ||
      kernel.rows * kernel.inner > kMaxProductElements || kernel.columns * kernel.inner > kMaxProductElements) {
    return nullptr;
  }
  HPU_ASSIGN_OR_RETURN(const bool prefers, calls->Prefers(*dot));
  if (!prefers) return nullptr;
  return calls->Add(kernel.Spec(), dot->operands(), dot->shape());
}

}  // namespace

absl::Status UseBatchedProductKernels(xla::HloModule* module, KernelCalls* calls) {
  return ReplaceAll(module, xla::HloOpcode::kDot,
                    [calls](HloInstruction* dot) { return BatchedProductKernel(dot, calls); });
}

}  // namespace hpu::emulator
