#include "plugin/backends/emulator/hlo_passes/row_gather_pass.h"

#include <cstdint>

#include "absl/algorithm/container.h"
#include "plugin/backends/emulator/hlo_passes/memory_values.h"
#include "plugin/backends/emulator/kernels/row_gather.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Below this size, a kernel call costs as much as it saves.
constexpr int64_t kMinGatheredBytes = 16 << 10;
constexpr int64_t kMinGatheredRowBytes = 64;

// The indexed dimensions of the operand, from `begin` to `end`; the gather copies the other dimensions whole.
struct Indexed {
  int64_t begin, end;
};

bool IsTableInMemory(const HloInstruction* gather) {
  const HloInstruction* table = gather->operand(0);
  return IsInMemory(table) || (table->opcode() == HloOpcode::kConstant && !gather->operand(1)->IsConstant());
}

// Whether the result is [dimensions before, index vectors, dimensions after], with whole dimensions.
bool TakesWholeRows(const HloInstruction* gather, const Indexed& indexed) {
  const xla::Shape& operand = gather->operand(0)->shape();
  const xla::GatherDimensionNumbers& numbers = gather->gather_dimension_numbers();
  const int64_t behind = gather->shape().rank() - (operand.rank() - indexed.end);
  if (numbers.offset_dims_size() != operand.rank() - (indexed.end - indexed.begin)) return false;
  for (int64_t i = 0; i < numbers.offset_dims_size(); ++i) {
    if (numbers.offset_dims(i) != (i < indexed.begin ? i : behind + i - indexed.begin)) return false;
  }
  for (int64_t i = 0; i < operand.rank(); ++i) {
    const bool is_indexed = i >= indexed.begin && i < indexed.end;
    if (gather->gather_slice_sizes()[i] != (is_indexed ? 1 : operand.dimensions(i))) return false;
  }
  return true;
}

bool AreVectorsOfIndices(const xla::Shape& indices, const xla::GatherDimensionNumbers& numbers) {
  return (indices.element_type() == xla::S32 || indices.element_type() == xla::S64) && IsPlainArray(indices) &&
         (numbers.index_vector_dim() == indices.rank() ||
          (numbers.index_vector_dim() == indices.rank() - 1 &&
           indices.dimensions(indices.rank() - 1) == numbers.start_index_map_size()));
}

RowGather KernelFor(const HloInstruction* gather, const Indexed& indexed) {
  const xla::Shape &operand = gather->operand(0)->shape(), &indices = gather->operand(1)->shape();
  const auto& map = gather->gather_dimension_numbers().start_index_map();
  RowGather kernel{xla::ShapeUtil::ByteSizeOfPrimitiveType(indices.element_type()),
                   1,
                   1,
                   xla::ShapeUtil::ByteSizeOfPrimitiveType(operand.element_type()),
                   xla::ShapeUtil::ElementsIn(indices) / map.size(),
                   {}};
  for (int64_t i = 0; i < operand.rank(); ++i) {
    (i < indexed.begin ? kernel.outer : i < indexed.end ? kernel.rows : kernel.row_bytes) *= operand.dimensions(i);
  }
  for (const int64_t dimension : map) {
    int64_t stride = 1;
    for (int64_t i = dimension + 1; i < indexed.end; ++i) stride *= operand.dimensions(i);
    kernel.components.push_back({operand.dimensions(dimension), stride});
  }
  return kernel;
}

absl::StatusOr<HloInstruction*> RowGatherKernel(HloInstruction* gather, KernelCalls* calls) {
  const xla::GatherDimensionNumbers& numbers = gather->gather_dimension_numbers();
  const auto& collapsed = numbers.collapsed_slice_dims();
  if (!IsPlainArray(gather->shape()) || xla::ShapeUtil::ByteSizeOf(gather->shape()) < kMinGatheredBytes ||
      !IsPlainArray(gather->operand(0)->shape()) || !AreVectorsOfIndices(gather->operand(1)->shape(), numbers) ||
      collapsed.empty() || collapsed.size() != numbers.start_index_map_size() || !IsTableInMemory(gather) ||
      !IsNeededInMemory(gather)) {
    return nullptr;
  }
  const Indexed indexed{collapsed[0], collapsed[0] + collapsed.size()};
  const auto is_indexed = [&](int64_t dimension) { return dimension >= indexed.begin && dimension < indexed.end; };
  if (!absl::c_all_of(numbers.start_index_map(), is_indexed) || !TakesWholeRows(gather, indexed)) return nullptr;
  const RowGather kernel = KernelFor(gather, indexed);
  if (kernel.row_bytes < kMinGatheredRowBytes) return nullptr;
  return calls->Add(kernel.Spec(), gather->operands(), gather->shape());
}

}  // namespace

absl::Status UseRowGatherKernels(xla::HloModule* module, KernelCalls* calls) {
  return ReplaceAll(module, HloOpcode::kGather,
                    [calls](HloInstruction* gather) { return RowGatherKernel(gather, calls); });
}

}  // namespace hpu::emulator
