#include "plugin/backends/gaudi/lowerings/arg_reductions.h"

#include <cstdint>
#include <limits>
#include <vector>

#include "plugin/backends/gaudi/lowerings/elementwise_operands.h"
#include "plugin/backends/gaudi/lowerings/indexing.h"
#include "plugin/backends/gaudi/lowerings/reductions.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/base/status_macros.h"
#include "xla/primitive_util.h"

namespace hpu::gaudi {
namespace {

// Elements along one dimension that compete for the extremum.
struct Candidates {
  TensorId value;                   // the elements that do not compete are infinite
  TensorId is_candidate;            // mask; kNoTensor: all elements
  TensorId last_value = kNoTensor;  // floats: the last element, which may be NaN
};

struct ReducedAxis {
  size_t dimension;
  uint64_t size;
  std::vector<bool> is_reduced;
  TensorId position;  // i32, 0 to size - 1 along the dimension
};

// Drops floats up to the last NaN, but keeps the last element.
absl::StatusOr<Candidates> FloatCandidates(PlanBuilder& builder, TensorId x, const ReducedAxis& axis, bool minimum) {
  const Sizes sizes = builder.sizes(x);
  HPU_ASSIGN_OR_RETURN(const TensorId is_number, Compare(builder, "equal_fwd", x, x));
  HPU_ASSIGN_OR_RETURN(const TensorId none, IntegerScalar(builder, synapse::syn_type_int32, -1, sizes.size()));
  HPU_ASSIGN_OR_RETURN(const TensorId nan_position, Where(builder, is_number, none, axis.position));
  HPU_ASSIGN_OR_RETURN(TensorId start,
                       ReduceDimensions(builder, "reduce_max_multi_dim_fwd", nan_position, axis.is_reduced));
  HPU_ASSIGN_OR_RETURN(start, AddNumber(builder, start, 1));
  HPU_ASSIGN_OR_RETURN(start, ClampIndex(builder, start, static_cast<int64_t>(axis.size) - 1));
  Candidates candidates = {};
  HPU_ASSIGN_OR_RETURN(candidates.is_candidate, Compare(builder, "greater_equal_fwd", axis.position, start));
  const double infinity = std::numeric_limits<double>::infinity();
  HPU_ASSIGN_OR_RETURN(const TensorId worst, ScalarLike(builder, x, minimum ? infinity : -infinity));
  HPU_ASSIGN_OR_RETURN(candidates.value, Where(builder, candidates.is_candidate, x, worst));
  std::vector<uint64_t> starts(sizes.size(), 0);
  starts[axis.dimension] = axis.size - 1;
  HPU_ASSIGN_OR_RETURN(candidates.last_value, Slice(builder, x, starts, sizes, std::vector<uint64_t>(sizes.size(), 1)));
  return candidates;
}

}  // namespace

absl::Status LowerArgReduction(Lowering& lowering, const xla::HloInstruction& instruction,
                               const hlo::ArgReduction& reduction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(TensorId x, lowering.Value(reduction.operand));
  const Sizes sizes = builder.sizes(x);
  ReducedAxis axis = {};
  axis.dimension = static_cast<size_t>(reduction.operand->shape().dimensions_size() - 1 - reduction.dimension);
  axis.size = sizes[axis.dimension];
  axis.is_reduced.resize(sizes.size());
  axis.is_reduced[axis.dimension] = true;
  Sizes along(sizes.size(), 1);
  along[axis.dimension] = axis.size;
  HPU_ASSIGN_OR_RETURN(axis.position, Range(builder, axis.size));
  HPU_ASSIGN_OR_RETURN(axis.position, Reshape(builder, axis.position, along));

  const bool has_hidden_sign = HasHiddenSign(*reduction.operand);
  if (has_hidden_sign) {
    HPU_ASSIGN_OR_RETURN(x, FlipSign(builder, x));
  }
  Candidates candidates = {x, kNoTensor};
  if (IsFloat(builder.type(x))) {
    HPU_ASSIGN_OR_RETURN(candidates, FloatCandidates(builder, x, axis, reduction.minimum));
  }
  HPU_ASSIGN_OR_RETURN(
      TensorId extremum,
      ReduceDimensions(builder, reduction.minimum ? "reduce_min_multi_dim_fwd" : "reduce_max_multi_dim_fwd",
                       candidates.value, axis.is_reduced));
  HPU_ASSIGN_OR_RETURN(TensorId is_hit, Compare(builder, "equal_fwd", candidates.value, extremum));
  if (candidates.is_candidate != kNoTensor) {
    HPU_ASSIGN_OR_RETURN(is_hit, Elementwise(builder, "bitwise_and_fwd", {is_hit, candidates.is_candidate}));
  }
  // A NaN extremum equals no element, so its position is the last one.
  HPU_ASSIGN_OR_RETURN(const TensorId last, IntegerScalar(builder, synapse::syn_type_int32,
                                                          static_cast<int64_t>(axis.size) - 1, sizes.size()));
  HPU_ASSIGN_OR_RETURN(TensorId position, Where(builder, is_hit, axis.position, last));
  HPU_ASSIGN_OR_RETURN(position, ReduceDimensions(builder, "reduce_min_multi_dim_fwd", position, axis.is_reduced));
  if (candidates.last_value != kNoTensor) {
    HPU_ASSIGN_OR_RETURN(const TensorId is_number,
                         Compare(builder, "equal_fwd", candidates.last_value, candidates.last_value));
    HPU_ASSIGN_OR_RETURN(extremum, Where(builder, is_number, extremum, candidates.last_value));
  }
  if (has_hidden_sign) {
    HPU_ASSIGN_OR_RETURN(extremum, FlipSign(builder, extremum));
  }
  const Sizes result_sizes = SizesOf(instruction.shape().tuple_shapes(0));
  HPU_ASSIGN_OR_RETURN(const TensorType position_type,
                       TensorTypeOf(instruction.shape().tuple_shapes(1), builder.generation()));
  HPU_ASSIGN_OR_RETURN(position, Cast(builder, position, position_type.type));
  HPU_ASSIGN_OR_RETURN(position, Reshape(builder, position, result_sizes));
  HPU_ASSIGN_OR_RETURN(extremum, Reshape(builder, extremum, result_sizes));
  lowering.SetTuple(instruction, {extremum, position});
  return absl::OkStatus();
}

}  // namespace hpu::gaudi
