// Lowerings of dynamic slices and dynamic update slices.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "plugin/backends/gaudi/lowerings/indexing.h"
#include "plugin/backends/gaudi/lowerings/lowerings.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/base/status_macros.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"

namespace hpu::gaudi {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// The start in an HLO dimension, i32 {1}. HLO clamps the slice into the array.
absl::StatusOr<TensorId> SliceStart(Lowering& lowering, const HloInstruction& instruction, int64_t dimension,
                                    int64_t last) {
  PlanBuilder& builder = lowering.builder();
  const auto& slice = *xla::Cast<xla::HloDynamicIndexInstruction>(&instruction);
  const HloInstruction* start = slice.index_operands()[dimension];
  HPU_ASSIGN_OR_RETURN(TensorId index, lowering.Value(start));
  HPU_ASSIGN_OR_RETURN(index, ToIndex(builder, index, start->shape().element_type()));
  return ClampIndex(builder, index, last);
}

absl::Status LowerDynamicSlice(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(TensorId x, lowering.Broadcastable(instruction.operand(0)));
  const xla::Shape& whole = instruction.operand(0)->shape();
  for (int64_t d = 0; d < whole.dimensions_size(); ++d) {
    const int64_t size = instruction.shape().dimensions(d);
    const auto axis = static_cast<size_t>(whole.dimensions_size() - 1 - d);
    // The slice covers the whole dimension, or all elements along the dimension are equal.
    if (size == whole.dimensions(d) || builder.sizes(x)[axis] == 1) continue;
    HPU_ASSIGN_OR_RETURN(const TensorId start, SliceStart(lowering, instruction, d, whole.dimensions(d) - size));
    HPU_ASSIGN_OR_RETURN(const TensorId range, Range(builder, size));
    HPU_ASSIGN_OR_RETURN(const TensorId indices, Elementwise(builder, "add_fwd", {range, start}));
    HPU_ASSIGN_OR_RETURN(x, GatherAlong(builder, x, axis, indices));
  }
  lowering.SetBroadcastable(instruction, x);
  return absl::OkStatus();
}

// Gathers an element of the update for each element of the array. A mask selects the elements inside the slice.
absl::Status LowerDynamicUpdateSlice(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(const TensorId x, lowering.Broadcastable(instruction.operand(0)));
  if (xla::ShapeUtil::IsZeroElementArray(instruction.operand(1)->shape())) {
    lowering.SetBroadcastable(instruction, x);
    return absl::OkStatus();
  }
  HPU_ASSIGN_OR_RETURN(TensorId update, lowering.Broadcastable(instruction.operand(1)));
  const xla::Shape& whole = instruction.shape();
  const xla::Shape& part = instruction.operand(1)->shape();
  TensorId is_inside = kNoTensor;
  for (int64_t d = 0; d < whole.dimensions_size(); ++d) {
    const int64_t size = part.dimensions(d);
    const auto axis = static_cast<size_t>(whole.dimensions_size() - 1 - d);
    if (size == whole.dimensions(d)) continue;
    HPU_ASSIGN_OR_RETURN(const TensorId start, SliceStart(lowering, instruction, d, whole.dimensions(d) - size));
    HPU_ASSIGN_OR_RETURN(const TensorId range, Range(builder, whole.dimensions(d)));
    HPU_ASSIGN_OR_RETURN(const TensorId place, Elementwise(builder, "sub_fwd", {range, start}));
    HPU_ASSIGN_OR_RETURN(TensorId mask, IsIndex(builder, place, size - 1));
    Sizes sizes(whole.dimensions_size(), 1);
    sizes[axis] = whole.dimensions(d);
    HPU_ASSIGN_OR_RETURN(mask, Reshape(builder, mask, sizes));
    if (is_inside == kNoTensor) {
      is_inside = mask;
    } else {
      HPU_ASSIGN_OR_RETURN(is_inside, Elementwise(builder, "bitwise_and_fwd", {is_inside, mask}));
    }
    if (builder.sizes(update)[axis] == 1) continue;
    HPU_ASSIGN_OR_RETURN(const TensorId indices, ClampIndex(builder, place, size - 1));
    HPU_ASSIGN_OR_RETURN(update, GatherAlong(builder, update, axis, indices));
  }
  if (is_inside == kNoTensor) {
    lowering.SetBroadcastable(instruction, update);
    return absl::OkStatus();
  }
  HPU_ASSIGN_OR_RETURN(const TensorId value, Where(builder, is_inside, update, x));
  lowering.SetBroadcastable(instruction, value);
  return absl::OkStatus();
}

}  // namespace

void AddDynamicSlices(LowerTable* table) {
  (*table)[HloOpcode::kDynamicSlice] = LowerDynamicSlice;
  (*table)[HloOpcode::kDynamicUpdateSlice] = LowerDynamicUpdateSlice;
}

}  // namespace hpu::gaudi
