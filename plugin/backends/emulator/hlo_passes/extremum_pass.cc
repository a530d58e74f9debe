#include "plugin/backends/emulator/hlo_passes/extremum_pass.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "plugin/backends/emulator/kernels/extremum.h"
#include "plugin/base/status_macros.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::ComparisonDirection;
using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

// Below this size, a kernel call costs as much as it saves.
constexpr int64_t kMinExtremumElements = 8192;
constexpr int64_t kMinRow = 16;
constexpr int64_t kMinColumns = 8;

// The sizes, if the reduced dimensions are adjacent and the array is large enough.
std::optional<Extremum> ExtremumSizes(const xla::Shape& shape, absl::Span<const int64_t> reduced) {
  if (reduced.empty() || xla::ShapeUtil::ElementsIn(shape) < kMinExtremumElements) return std::nullopt;
  const int64_t first = *absl::c_min_element(reduced), last = *absl::c_max_element(reduced);
  if (last - first + 1 != static_cast<int64_t>(reduced.size())) return std::nullopt;
  Extremum sizes;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    (i < first ? sizes.outer : i > last ? sizes.inner : sizes.size) *= shape.dimensions(i);
  }
  const bool worth = sizes.inner == 1 ? sizes.size >= kMinRow : sizes.inner >= kMinColumns;
  return worth ? std::optional(sizes) : std::nullopt;
}

bool IsInitial(HloInstruction* initial, bool is_min) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  return ScalarOf(initial) == (is_min ? kInfinity : -kInfinity);
}

absl::StatusOr<HloInstruction*> ValueKernelOf(HloInstruction* reduce, KernelCalls* calls) {
  const xla::Shape& shape = reduce->operand(0)->shape();
  if (!IsFloatArray(shape)) return nullptr;
  const bool is_min = Computes(reduce->to_apply(), HloOpcode::kMinimum);
  if ((!is_min && !Computes(reduce->to_apply(), HloOpcode::kMaximum)) ||
      !IsInitial(reduce->mutable_operand(1), is_min)) {
    return nullptr;
  }
  std::optional<Extremum> kernel = ExtremumSizes(shape, reduce->dimensions());
  if (!kernel.has_value()) return nullptr;
  kernel->is_min = is_min;
  kernel->bfloat16 = shape.element_type() == xla::BF16;
  return calls->Add(kernel->Spec(), {reduce->mutable_operand(0)}, reduce->shape());
}

bool IsCompare(const HloInstruction* value, const HloComputation& f, ComparisonDirection direction) {
  return value->opcode() == HloOpcode::kCompare && value->comparison_direction() == direction &&
         value->operand(0) == f.parameter_instruction(0) && value->operand(1) == f.parameter_instruction(2);
}

// Whether f(value, position, other value, other position) is the computation that tf2xla emits for ArgMax or ArgMin: it
// returns the better value and its position, the first one of equal values.
bool FindsPlace(const HloComputation& f, bool is_min) {
  const HloInstruction* root = f.root_instruction();
  if (f.num_parameters() != 4 || root->opcode() != HloOpcode::kTuple || root->operand_count() != 2) return false;
  const auto direction = is_min ? ComparisonDirection::kLe : ComparisonDirection::kGe;
  const auto is_choice = [&](const HloInstruction* value, int first) {
    return value->opcode() == HloOpcode::kSelect && IsCompare(value->operand(0), f, direction) &&
           value->operand(1) == f.parameter_instruction(first) &&
           value->operand(2) == f.parameter_instruction(first + 2);
  };
  const HloInstruction *value = root->operand(0), *place = root->operand(1);
  if (!is_choice(value, 0) || place->opcode() != HloOpcode::kSelect ||
      !IsCompare(place->operand(0), f, ComparisonDirection::kEq) || !is_choice(place->operand(2), 1)) {
    return false;
  }
  const HloInstruction* first = place->operand(1);
  return first->opcode() == HloOpcode::kMinimum && first->operand(0) == f.parameter_instruction(1) &&
         first->operand(1) == f.parameter_instruction(3);
}

bool IsIota(HloInstruction* value, int64_t dimension) {
  const HloInstruction* source = SourceOf(value);
  return source->opcode() == HloOpcode::kIota && source->shape().element_type() == xla::S32 &&
         xla::Cast<xla::HloIotaInstruction>(source)->iota_dimension() == dimension;
}

// Replaces the second result of reduce(x, iota) -> (values, positions).
absl::StatusOr<HloInstruction*> PlaceKernelOf(HloInstruction* element, KernelCalls* calls) {
  HloInstruction* reduce = element->mutable_operand(0);
  if (element->tuple_index() != 1 || reduce->opcode() != HloOpcode::kReduce || reduce->operand_count() != 4 ||
      reduce->user_count() != 1 || reduce->dimensions().size() != 1) {
    return nullptr;
  }
  HloInstruction* x = reduce->mutable_operand(0);
  const bool is_min = FindsPlace(*reduce->to_apply(), /*is_min=*/true);
  if (!IsFloatArray(x->shape()) || (!is_min && !FindsPlace(*reduce->to_apply(), /*is_min=*/false)) ||
      !IsIota(reduce->mutable_operand(1), reduce->dimensions(0)) || !IsInitial(reduce->mutable_operand(2), is_min) ||
      !IsConstantOf(reduce->mutable_operand(3), 0)) {
    return nullptr;
  }
  std::optional<Extremum> kernel = ExtremumSizes(x->shape(), reduce->dimensions());
  if (!kernel.has_value()) return nullptr;
  kernel->place = true;
  kernel->is_min = is_min;
  kernel->bfloat16 = x->shape().element_type() == xla::BF16;
  return calls->Add(kernel->Spec(), {x}, element->shape());
}

}  // namespace

absl::Status UseExtremumKernels(xla::HloModule* module, KernelCalls* calls) {
  HPU_RETURN_IF_ERROR(ReplaceAll(module, HloOpcode::kGetTupleElement,
                                 [calls](HloInstruction* element) { return PlaceKernelOf(element, calls); }));
  return ReplaceAll(module, HloOpcode::kReduce, [calls](HloInstruction* reduce) -> absl::StatusOr<HloInstruction*> {
    if (reduce->operand_count() != 2) return nullptr;
    return ValueKernelOf(reduce, calls);
  });
}

}  // namespace hpu::emulator
