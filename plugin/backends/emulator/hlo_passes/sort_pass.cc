#include "plugin/backends/emulator/hlo_passes/sort_pass.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "plugin/backends/emulator/kernels/sort.h"
#include "plugin/base/status_macros.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/primitive_util.h"
#include "xla/service/hlo_dce.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::ComparisonDirection;
using xla::HloInstruction;
using xla::HloOpcode;

// Below this size, XLA's code is as fast as a kernel call.
constexpr int64_t kMinSortElements = 16;

// The scalar that the comparator's value broadcasts or reshapes.
const HloInstruction* Scalar(const HloInstruction* value) {
  while (value->opcode() == HloOpcode::kBroadcast || value->opcode() == HloOpcode::kReshape) value = value->operand(0);
  return value;
}

bool IsTrue(const HloInstruction* value) {
  const HloInstruction* constant = Scalar(value);
  return constant->opcode() == HloOpcode::kConstant && constant->shape().element_type() == xla::PRED &&
         constant->literal().GetFirstElement<bool>();
}

// Removes the selects by constants that XLA's comparator builders put around comparisons.
const HloInstruction* WithoutConstants(const HloInstruction* value) {
  while (true) {
    if (value->opcode() == HloOpcode::kSelect && IsTrue(value->operand(0))) {
      value = value->operand(1);
    } else if (value->opcode() == HloOpcode::kAnd && IsTrue(value->operand(0))) {
      value = value->operand(1);
    } else {
      return value;
    }
  }
}

// The direction of `value` if it compares operand `key` in total order; else nullopt.
std::optional<ComparisonDirection> Comparison(const HloInstruction* value, const xla::HloComputation& comparator,
                                              int64_t key) {
  if (value->opcode() != HloOpcode::kCompare || value->operand(0) != comparator.parameter_instruction(2 * key) ||
      value->operand(1) != comparator.parameter_instruction(2 * key + 1) ||
      xla::Cast<xla::HloCompareInstruction>(value)->order() != xla::ComparisonOrder::kTotal) {
    return std::nullopt;
  }
  return value->comparison_direction();
}

bool IsEquality(const HloInstruction* value, const xla::HloComputation& comparator) {
  return value->opcode() == HloOpcode::kCompare && value->comparison_direction() == ComparisonDirection::kEq &&
         value->operand(0) == comparator.parameter_instruction(0) &&
         value->operand(1) == comparator.parameter_instruction(1);
}

bool IsIota(HloInstruction* value, int64_t dimension) {
  const HloInstruction* source = SourceOf(value);
  return source->opcode() == HloOpcode::kIota && source->shape().element_type() == xla::S32 &&
         xla::Cast<xla::HloIotaInstruction>(source)->iota_dimension() == dimension;
}

// Whether the sort is descending by the first operand; nullopt if it has another order.
std::optional<bool> IsDescending(const HloInstruction* sort) {
  const xla::HloComputation& comparator = *sort->to_apply();
  const HloInstruction* root = WithoutConstants(comparator.root_instruction());
  // A comparator may order equal elements by position, because the kernel's sort is stable.
  if (root->opcode() == HloOpcode::kSelect && sort->operand_count() > 1 &&
      IsEquality(WithoutConstants(root->operand(0)), comparator) &&
      Comparison(WithoutConstants(root->operand(1)), comparator, 1) == ComparisonDirection::kLt &&
      IsIota(const_cast<HloInstruction*>(sort->operand(1)), sort->dimensions(0))) {
    root = WithoutConstants(root->operand(2));
  }
  const std::optional<ComparisonDirection> direction = Comparison(root, comparator, 0);
  if (direction == ComparisonDirection::kLt) return false;
  if (direction == ComparisonDirection::kGt) return true;
  return std::nullopt;
}

std::optional<Sort::Type> TypeOf(const xla::Shape& shape) {
  switch (shape.element_type()) {
    case xla::F32:
    case xla::F16:
    case xla::BF16:
      return Sort::kFloat;
    case xla::S8:
    case xla::S16:
    case xla::S32:
      return Sort::kSigned;
    case xla::PRED:
    case xla::U8:
    case xla::U16:
    case xla::U32:
      return Sort::kUnsigned;
    default:
      return std::nullopt;
  }
}

bool HasPlainElements(const HloInstruction* operand) {
  const int64_t bytes = xla::ShapeUtil::ByteSizeOfPrimitiveType(operand->shape().element_type());
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

// The keys of a sort, without surrounding instructions that only change the order.
struct Keys {
  HloInstruction* operand;
  bool negated = false;
  std::vector<int64_t> order;  // order of the removed transposition; empty if there is none
  int64_t dimension;           // sorted dimension of the operand
};

// A negation reverses the total order. A transposition moves the sorted dimension.
Keys KeysOf(HloInstruction* sort, bool may_transpose) {
  Keys keys{SourceOf(sort->mutable_operand(0)), false, {}, sort->dimensions(0)};
  while (true) {
    const HloOpcode opcode = keys.operand->opcode();
    if (opcode == HloOpcode::kNegate && TypeOf(keys.operand->shape()) == Sort::kFloat) {
      keys.negated = !keys.negated;
    } else if (opcode == HloOpcode::kTranspose && may_transpose && keys.order.empty()) {
      keys.order.assign(keys.operand->dimensions().begin(), keys.operand->dimensions().end());
      keys.dimension = keys.order[keys.dimension];
    } else {
      return keys;
    }
    keys.operand = SourceOf(keys.operand->mutable_operand(0));
  }
}

// For each result of a sort, the instructions that represent it.
using Results = std::vector<std::vector<HloInstruction*>>;

// Nullopt if an instruction uses the whole tuple.
std::optional<Results> ResultsOf(HloInstruction* sort) {
  Results results(sort->operand_count());
  if (sort == sort->parent()->root_instruction()) return std::nullopt;
  if (!sort->shape().IsTuple()) {
    results[0] = {sort};
    return results;
  }
  for (HloInstruction* user : sort->users()) {
    if (user->opcode() != HloOpcode::kGetTupleElement) return std::nullopt;
    results[user->tuple_index()].push_back(user);
  }
  return results;
}

// Number of elements that a value's users slice off the dimension, if all of them slice the same number from the start.
std::optional<int64_t> SlicedElements(const HloInstruction* value, int64_t dimension) {
  std::optional<int64_t> count;
  if (value == value->parent()->root_instruction()) return std::nullopt;
  for (const HloInstruction* user : value->users()) {
    if (user->opcode() != HloOpcode::kSlice) return std::nullopt;
    for (int64_t i = 0; i < user->shape().rank(); ++i) {
      const bool whole = user->slice_limits(i) == value->shape().dimensions(i);
      if (user->slice_starts(i) != 0 || user->slice_strides(i) != 1 || (i != dimension && !whole)) return std::nullopt;
    }
    if (count.has_value() && *count != user->slice_limits(dimension)) return std::nullopt;
    count = user->slice_limits(dimension);
  }
  return count;
}

int64_t CountOf(const Results& results, int64_t dimension, int64_t size) {
  std::optional<int64_t> count;
  for (const std::vector<HloInstruction*>& values : results) {
    for (const HloInstruction* value : values) {
      const std::optional<int64_t> taken = SlicedElements(value, dimension);
      if (!taken.has_value() || *taken == 0 || (count.has_value() && *count != *taken)) return size;
      count = taken;
    }
  }
  return count.value_or(size);
}

// Sets the sizes outside, inside and along the sorted dimension.
void SetSizes(const xla::Shape& shape, int64_t dimension, Sort* sort) {
  for (int64_t i = 0; i < shape.rank(); ++i) {
    (i < dimension ? sort->outer : i > dimension ? sort->inner : sort->size) *= shape.dimensions(i);
  }
}

bool IsSliced(const HloInstruction* sort) {
  const xla::Shape& shape = sort->operand(0)->shape();
  return TypeOf(shape).has_value() && absl::c_all_of(sort->operands(), HasPlainElements) &&
         absl::c_all_of(sort->operands(), [](const HloInstruction* operand) { return operand->shape().is_static(); }) &&
         xla::ShapeUtil::ElementsIn(shape) >= kMinSortElements && shape.dimensions(sort->dimensions(0)) > 1 &&
         shape.dimensions(sort->dimensions(0)) <= std::numeric_limits<int32_t>::max();
}

// Replaces one of the sort's results, or slices of its first elements, by `value`.
absl::Status ReplaceResults(const std::vector<HloInstruction*>& results, HloInstruction* value) {
  for (HloInstruction* result : results) {
    if (xla::ShapeUtil::Compatible(result->shape(), value->shape())) {
      HPU_RETURN_IF_ERROR(result->parent()->ReplaceInstruction(result, value));
      continue;
    }
    const std::vector<HloInstruction*> slices(result->users().begin(), result->users().end());
    for (HloInstruction* slice : slices) HPU_RETURN_IF_ERROR(slice->parent()->ReplaceInstruction(slice, value));
  }
  return absl::OkStatus();
}

absl::Status Replace(HloInstruction* sort, bool descending, const Results& results, KernelCalls* calls) {
  const int64_t dimension = sort->dimensions(0);
  const auto is_iota = [&](int64_t operand) {
    return operand > 0 && IsIota(sort->mutable_operand(operand), dimension);
  };
  bool has_payload = false;
  for (int64_t i = 1; i < sort->operand_count(); ++i) has_payload |= !results[i].empty() && !is_iota(i);
  const Keys keys = KeysOf(sort, /*may_transpose=*/!has_payload);
  const xla::Shape& shape = keys.operand->shape();
  Sort kernel;
  kernel.type = *TypeOf(shape);
  kernel.key_bytes = xla::ShapeUtil::ByteSizeOfPrimitiveType(shape.element_type());
  kernel.descending = descending != keys.negated;
  SetSizes(shape, keys.dimension, &kernel);
  kernel.count = CountOf(results, dimension, kernel.size);

  std::vector<HloInstruction*> operands{keys.operand};
  std::vector<xla::Shape> shapes;
  for (int64_t i = 0; i < sort->operand_count(); ++i) {
    if (results[i].empty()) continue;
    const xla::PrimitiveType type = sort->operand(i)->shape().element_type();
    shapes.push_back(xla::ShapeUtil::ChangeElementType(shape, type));
    shapes.back().set_dimensions(keys.dimension, kernel.count);
    if (i == 0) {
      kernel.results.push_back(Sort::kKeys);
    } else if (is_iota(i)) {
      kernel.results.push_back(Sort::kIndices);
    } else {
      kernel.results.push_back(xla::ShapeUtil::ByteSizeOfPrimitiveType(type));
      operands.push_back(sort->mutable_operand(i));
    }
  }
  HPU_ASSIGN_OR_RETURN(
      HloInstruction * call,
      calls->Add(kernel.Spec(), operands, shapes.size() == 1 ? shapes[0] : xla::ShapeUtil::MakeTupleShape(shapes)));
  call->set_metadata(sort->metadata());
  xla::HloComputation* const computation = sort->parent();
  int64_t number = 0;
  for (int64_t i = 0; i < sort->operand_count(); ++i) {
    if (results[i].empty()) continue;
    HloInstruction* value = call;
    if (shapes.size() > 1) {
      value = computation->AddInstruction(HloInstruction::CreateGetTupleElement(shapes[number], call, number));
    }
    ++number;
    if (i == 0 && keys.negated) {
      value = computation->AddInstruction(HloInstruction::CreateUnary(value->shape(), HloOpcode::kNegate, value));
    }
    if (!keys.order.empty()) {
      xla::Shape turned = value->shape();
      for (size_t d = 0; d < keys.order.size(); ++d) turned.set_dimensions(d, value->shape().dimensions(keys.order[d]));
      value = computation->AddInstruction(HloInstruction::CreateTranspose(turned, value, keys.order));
    }
    HPU_RETURN_IF_ERROR(ReplaceResults(results[i], value));
  }
  return absl::OkStatus();
}

// Forwards tuple elements, because tf2xla passes results through tuples and a program may use only some elements.
absl::Status ForwardElements(xla::HloComputation* computation) {
  for (HloInstruction* element : computation->MakeInstructionPostOrder()) {
    if (element->opcode() != HloOpcode::kGetTupleElement || element->operand(0)->opcode() != HloOpcode::kTuple)
      continue;
    HloInstruction* const tuple = element->mutable_operand(0);
    HPU_RETURN_IF_ERROR(computation->ReplaceInstruction(element, tuple->mutable_operand(element->tuple_index())));
  }
  return absl::OkStatus();
}

bool HasSort(const xla::HloComputation* computation) {
  return absl::c_any_of(computation->instructions(),
                        [](const HloInstruction* i) { return i->opcode() == HloOpcode::kSort; });
}

}  // namespace

absl::Status UseSortKernels(xla::HloModule* module, KernelCalls* calls) {
  bool found = false;
  for (xla::HloComputation* computation : module->MakeNonfusionComputations()) {
    if (!HasSort(computation)) continue;
    found = true;
    HPU_RETURN_IF_ERROR(ForwardElements(computation));
  }
  if (!found) return absl::OkStatus();
  HPU_RETURN_IF_ERROR(xla::HloDCE().Run(module).status());
  for (xla::HloComputation* computation : module->MakeNonfusionComputations()) {
    for (HloInstruction* sort : computation->MakeInstructionPostOrder()) {
      if (sort->opcode() != HloOpcode::kSort || !IsSliced(sort)) continue;
      const std::optional<bool> descending = IsDescending(sort);
      const std::optional<Results> results = ResultsOf(sort);
      if (!descending.has_value() || !results.has_value()) continue;
      HPU_RETURN_IF_ERROR(Replace(sort, *descending, *results, calls));
    }
  }
  return absl::OkStatus();
}

}  // namespace hpu::emulator
