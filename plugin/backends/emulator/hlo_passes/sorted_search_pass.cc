#include "plugin/backends/emulator/hlo_passes/sorted_search_pass.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "plugin/backends/common/hlo/instructions.h"
#include "plugin/backends/emulator/kernels/sorted_search.h"
#include "xla/service/hlo_creation_utils.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::ComparisonDirection;
using xla::HloInstruction;
using xla::HloOpcode;

// Below these sizes, comparing with all bounds is as fast.
constexpr int64_t kMinBounds = 8;
constexpr int64_t kMinComparisons = 16384;

// The array that is broadcast to three dimensions along `first` and `second`, or null.
HloInstruction* BroadcastAlong(HloInstruction* value, int64_t first, int64_t second) {
  const bool is = value->opcode() == HloOpcode::kBroadcast && value->shape().dimensions_size() == 3 &&
                  value->dimensions().size() == 2 && value->dimensions(0) == first && value->dimensions(1) == second;
  return is ? value->mutable_operand(0) : nullptr;
}

// The type of the kernel that searches numbers of `type`. Conversions to this type keep the order of the numbers.
xla::PrimitiveType SearchedType(xla::PrimitiveType type) {
  switch (type) {
    case xla::F16:
    case xla::BF16:
      return xla::F32;
    case xla::S8:
    case xla::S16:
    case xla::U8:
    case xla::U16:
      return xla::S32;
    case xla::U32:
      return xla::S64;
    default:
      return type;
  }
}

absl::StatusOr<HloInstruction*> SortedSearchKernel(HloInstruction* sum, KernelCalls* calls) {
  if (sum->operand_count() != 2 || !sum->shape().IsArray() || sum->shape().element_type() != xla::S32 ||
      !hlo::Computes(sum->to_apply(), HloOpcode::kAdd) || !hlo::IsConstantOf(sum->mutable_operand(1), 0) ||
      sum->dimensions().size() != 1 || sum->dimensions(0) != 2 || sum->operand(0)->opcode() != HloOpcode::kConvert) {
    return nullptr;
  }
  HloInstruction* const compare = sum->mutable_operand(0)->mutable_operand(0);
  if (compare->opcode() != HloOpcode::kCompare) return nullptr;
  const ComparisonDirection direction = compare->comparison_direction();
  if (direction != ComparisonDirection::kGt && direction != ComparisonDirection::kGe) return nullptr;
  HloInstruction* values = BroadcastAlong(compare->mutable_operand(0), 0, 1);
  HloInstruction* bounds = BroadcastAlong(compare->mutable_operand(1), 0, 2);
  if (values == nullptr || bounds == nullptr || !values->shape().is_static() || !bounds->shape().is_static()) {
    return nullptr;
  }
  const xla::PrimitiveType searched = SearchedType(values->shape().element_type());
  const std::optional<NumberType> type = NumberTypeOf(searched);
  if (!type.has_value()) return nullptr;
  SortedSearch search;
  search.type = *type;
  search.or_equal = direction == ComparisonDirection::kGe;
  search.rows = compare->shape().dimensions(0);
  search.values = compare->shape().dimensions(1);
  search.bounds = compare->shape().dimensions(2);
  if (search.bounds < kMinBounds || search.bounds > std::numeric_limits<int32_t>::max() ||
      xla::ShapeUtil::ElementsIn(compare->shape()) < kMinComparisons) {
    return nullptr;
  }
  if (searched != values->shape().element_type()) {
    values = xla::MakeConvertToHlo(values, searched);
    bounds = xla::MakeConvertToHlo(bounds, searched);
  }
  return calls->Add(search.Spec(), {values, bounds}, sum->shape());
}

}  // namespace

absl::Status UseSortedSearchKernels(xla::HloModule* module, KernelCalls* calls) {
  return ReplaceAll(module, HloOpcode::kReduce,
                    [calls](HloInstruction* sum) { return SortedSearchKernel(sum, calls); });
}

}  // namespace hpu::emulator
