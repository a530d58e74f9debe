#include "plugin/backends/gaudi/lowerings/integer_dot.h"

#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "plugin/backends/gaudi/lowerings/elementwise_operands.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/narrow_integers.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/backends/gaudi/plan/wide_integers.h"
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/base/status_macros.h"
#include "xla/primitive_util.h"

namespace hpu::gaudi {
namespace {

using DimensionList = google::protobuf::RepeatedField<int64_t>;

// Largest array of products, in elements.
constexpr uint64_t kMaxProducts = uint64_t{1} << 28;

// An operand as {contracted, free, batch}.
struct IntegerMatrices {
  TensorId id = kNoTensor;
  uint64_t contracted = 1;
  uint64_t free = 1;
  uint64_t batch = 1;
};

// The operand as i32, or as i64 if the result has 64 bits.
absl::StatusOr<TensorId> WidenedOperand(Lowering& lowering, const xla::HloInstruction* operand, bool is_wide) {
  HPU_ASSIGN_OR_RETURN(const TensorId x, lowering.Value(operand));
  const xla::PrimitiveType type = operand->shape().element_type();
  if (xla::primitive_util::BitWidth(type) == 64) return x;
  HPU_ASSIGN_OR_RETURN(const TensorId word, ToWord(lowering.builder(), x, type));
  if (!is_wide) return word;
  return WideFromWord(lowering.builder(), word, type == xla::U32);
}

absl::StatusOr<IntegerMatrices> MatricesOf(Lowering& lowering, const xla::HloInstruction* operand,
                                           const DimensionList& batch, const DimensionList& contracted, bool is_wide) {
  IntegerMatrices matrices;
  std::vector<int64_t> order(batch.begin(), batch.end());
  for (const int64_t d : batch) matrices.batch *= operand->shape().dimensions(d);
  for (int64_t d = 0; d < operand->shape().dimensions_size(); ++d) {
    if (absl::c_linear_search(batch, d) || absl::c_linear_search(contracted, d)) continue;
    order.push_back(d);
    matrices.free *= operand->shape().dimensions(d);
  }
  for (const int64_t d : contracted) {
    order.push_back(d);
    matrices.contracted *= operand->shape().dimensions(d);
  }
  HPU_ASSIGN_OR_RETURN(const TensorId x, WidenedOperand(lowering, operand, is_wide));
  HPU_ASSIGN_OR_RETURN(matrices.id, HloTranspose(lowering.builder(), x, order));
  return matrices;
}

// Sums over the fastest dimension, which keeps size 1.
absl::StatusOr<TensorId> SumFastest(PlanBuilder& builder, TensorId x) {
  Sizes sizes = builder.sizes(x);
  if (sizes[0] == 1) return x;
  if (builder.type(x) == synapse::syn_type_int64) return SumWide(builder, x, {true, false, false, false});
  sizes[0] = 1;
  const synapse::ns_Reduction::Params params = {0};
  return builder.AddTyped("reduce_sum_fwd", builder.type(x), {x}, {builder.type(x), sizes}, ParamsBytes(params));
}

}  // namespace

absl::Status LowerIntegerDot(Lowering& lowering, const xla::HloInstruction& dot) {
  PlanBuilder& builder = lowering.builder();
  const xla::PrimitiveType type = dot.shape().element_type();
  if (type == xla::PRED) {
    return absl::UnimplementedError("Gaudi has no kernel for matrix products of booleans; cast them to int32");
  }
  const xla::DotDimensionNumbers& numbers = dot.dot_dimension_numbers();
  const bool is_wide = xla::primitive_util::BitWidth(type) == 64;
  HPU_ASSIGN_OR_RETURN(const IntegerMatrices a, MatricesOf(lowering, dot.operand(0), numbers.lhs_batch_dimensions(),
                                                           numbers.lhs_contracting_dimensions(), is_wide));
  HPU_ASSIGN_OR_RETURN(const IntegerMatrices b, MatricesOf(lowering, dot.operand(1), numbers.rhs_batch_dimensions(),
                                                           numbers.rhs_contracting_dimensions(), is_wide));
  const uint64_t products = a.contracted * a.free * b.free * a.batch;
  if (products > kMaxProducts) {
    return absl::UnimplementedError(
        absl::StrCat("integer matrix products of ", products,
                     " multiplications are too large: the maximum is 2^28; cast the operands to float32"));
  }
  HPU_ASSIGN_OR_RETURN(const TensorId left, Reshape(builder, a.id, {a.contracted, 1, a.free, a.batch}));
  HPU_ASSIGN_OR_RETURN(const TensorId right, Reshape(builder, b.id, {b.contracted, b.free, 1, b.batch}));
  HPU_ASSIGN_OR_RETURN(const TensorId all, Elementwise(builder, "mult_fwd", {left, right}));
  HPU_ASSIGN_OR_RETURN(const TensorId full, Broadcast(builder, all, {a.contracted, b.free, a.free, a.batch}));
  HPU_ASSIGN_OR_RETURN(const TensorId sum, SumFastest(builder, full));
  return SetWordResult(lowering, dot, Reshape(builder, sum, SizesOf(dot.shape())));
}

}  // namespace hpu::gaudi
