// Lowerings of gathers.
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "plugin/backends/gaudi/lowerings/index_vectors.h"
#include "plugin/backends/gaudi/lowerings/indexing.h"
#include "plugin/backends/gaudi/lowerings/lowerings.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/base/status_macros.h"
#include "xla/xla_data.pb.h"

namespace hpu::gaudi {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// The array from which windows are gathered.
struct GatheredArray {
  TensorId value;
  std::vector<int64_t> sizes;
};

// The part of the operand that windows can reach. In dimensions outside start_index_map, all windows start at 0.
absl::StatusOr<GatheredArray> ReachableArray(Lowering& lowering, const HloInstruction& gather) {
  const HloInstruction* operand = gather.operand(0);
  GatheredArray array;
  array.sizes.assign(operand->shape().dimensions().begin(), operand->shape().dimensions().end());
  HPU_ASSIGN_OR_RETURN(array.value, lowering.Value(operand));
  const auto rank = static_cast<int64_t>(array.sizes.size());
  std::vector<uint64_t> ends = lowering.builder().sizes(array.value);
  for (int64_t d = 0; d < rank; ++d) {
    if (absl::c_linear_search(gather.gather_dimension_numbers().start_index_map(), d)) continue;
    array.sizes[d] = gather.gather_slice_sizes()[d];
    ends[rank - 1 - d] = array.sizes[d];
  }
  HPU_ASSIGN_OR_RETURN(array.value, Slice(lowering.builder(), array.value, std::vector<uint64_t>(ends.size(), 0), ends,
                                          std::vector<uint64_t>(ends.size(), 1)));
  return array;
}

// First row of each window, i32 {1, n}: HLO clamps windows into the array. kNoTensor if all windows start at row 0.
absl::StatusOr<TensorId> FirstRows(Lowering& lowering, const HloInstruction& gather, const GatheredArray& array,
                                   const RowLayout& layout) {
  PlanBuilder& builder = lowering.builder();
  TensorId first = kNoTensor;
  const auto& dimensions = gather.gather_dimension_numbers().start_index_map();
  for (int entry = 0; entry < dimensions.size(); ++entry) {
    const auto partial = absl::c_find(layout.partial, dimensions[entry]);
    if (partial == layout.partial.end()) continue;
    HPU_ASSIGN_OR_RETURN(TensorId index, IndexEntry(lowering, gather.operand(1),
                                                    gather.gather_dimension_numbers().index_vector_dim(), entry));
    HPU_ASSIGN_OR_RETURN(index,
                         ClampIndex(builder, index, array.sizes[*partial] - gather.gather_slice_sizes()[*partial]));
    HPU_ASSIGN_OR_RETURN(index, MultiplyNumber(builder, index, layout.strides[partial - layout.partial.begin()]));
    if (first != kNoTensor) {
      HPU_ASSIGN_OR_RETURN(index, Elementwise(builder, "add_fwd", {first, index}));
    }
    first = index;
  }
  return first;
}

// Converts gathered rows to the result. Rows hold the result's dimensions in the order {index dimensions, partial
// dimensions of the window, whole dimensions}.
absl::StatusOr<TensorId> FromGatheredRows(PlanBuilder& builder, TensorId rows, const HloInstruction& gather,
                                          const RowLayout& layout) {
  const xla::GatherDimensionNumbers& numbers = gather.gather_dimension_numbers();
  const xla::Shape& shape = gather.shape();
  // Dimension of the result for each dimension of the operand; -1: dropped.
  std::vector<int64_t> offset_dimension(gather.gather_slice_sizes().size(), -1);
  int next = 0;
  for (size_t d = 0; d < offset_dimension.size(); ++d) {
    if (absl::c_linear_search(numbers.collapsed_slice_dims(), static_cast<int64_t>(d))) continue;
    offset_dimension[d] = numbers.offset_dims(next++);
  }
  std::vector<int64_t> held;  // the result's dimensions in the order of the rows
  for (int64_t d = 0; d < shape.dimensions_size(); ++d) {
    if (!absl::c_linear_search(numbers.offset_dims(), d)) held.push_back(d);
  }
  for (const int64_t d : layout.order()) {
    if (offset_dimension[d] >= 0) held.push_back(offset_dimension[d]);
  }
  Sizes sizes(SizesOf(shape).size(), 1);
  std::vector<int64_t> permutation(held.size());
  for (size_t i = 0; i < held.size(); ++i) {
    sizes[held.size() - 1 - i] = shape.dimensions(held[i]);
    permutation[held[i]] = static_cast<int64_t>(i);
  }
  HPU_ASSIGN_OR_RETURN(rows, Reshape(builder, rows, sizes));
  return HloTranspose(builder, rows, permutation);
}

absl::Status LowerGather(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(const GatheredArray array, ReachableArray(lowering, instruction));
  HPU_ASSIGN_OR_RETURN(const RowLayout layout, RowLayoutOf(array.sizes, instruction.gather_slice_sizes()));
  HPU_ASSIGN_OR_RETURN(const TensorId first, FirstRows(lowering, instruction, array, layout));
  HPU_ASSIGN_OR_RETURN(TensorId rows, ToRows(builder, array.value, layout));
  if (first == kNoTensor) {
    const uint64_t elements = ElementCount(SizesOf(instruction.shape()));
    const uint64_t row = builder.sizes(rows)[0];
    HPU_ASSIGN_OR_RETURN(rows, Broadcast(builder, rows, {row, elements / row}));
  } else {
    HPU_ASSIGN_OR_RETURN(TensorId indices, WindowRows(builder, first, layout, instruction.gather_slice_sizes()));
    HPU_ASSIGN_OR_RETURN(indices, Reshape(builder, indices, {ElementCount(builder.sizes(indices))}));
    HPU_ASSIGN_OR_RETURN(rows, GatherRows(builder, rows, indices));
  }
  HPU_ASSIGN_OR_RETURN(const TensorId value, FromGatheredRows(builder, rows, instruction, layout));
  lowering.Set(instruction, value);
  return absl::OkStatus();
}

}  // namespace

void AddGathers(LowerTable* table) { (*table)[HloOpcode::kGather] = LowerGather; }

}  // namespace hpu::gaudi
