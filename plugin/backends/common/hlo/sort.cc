#include "plugin/backends/common/hlo/sort.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "plugin/backends/common/hlo/instructions.h"
#include "xla/comparison_util.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/literal_util.h"
#include "xla/primitive_util.h"
#include "xla/service/pattern_matcher.h"
#include "xla/shape_util.h"

namespace hpu::hlo {
namespace {

using xla::ComparisonDirection;
using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

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

// Follows `value` through broadcasts and conversions to its source, for example a constant.
const HloInstruction* IntegerConstant(const HloInstruction* value) {
  while (value->opcode() == HloOpcode::kBroadcast || value->opcode() == HloOpcode::kConvert) value = value->operand(0);
  return value;
}

// Whether `value` is the integer by which xla::ComparisonExpander orders the bits of the float `number` in total
// order: bits < 0 ? max - bits : bits, or max ^ bits in newer releases.
bool IsTotalOrderKey(const HloInstruction* value, const HloInstruction* number) {
  namespace m = xla::match;
  const xla::PrimitiveType type = value->shape().element_type();
  if (!xla::primitive_util::IsSignedIntegralType(type)) return false;
  const HloInstruction *left = nullptr, *middle = nullptr, *right = nullptr, *zero = nullptr, *greatest = nullptr;
  const auto bits = [](const HloInstruction** operand) { return m::BitcastConvert(m::Op(operand)); };
  const auto selects = [&](const auto& flipped) {
    return xla::Match(value, m::Select(m::Lt(bits(&left), m::Op(&zero)), flipped, bits(&right)));
  };
  if (!selects(m::BitcastConvert(m::Subtract(m::Op(&greatest), bits(&middle)))) &&
      !selects(m::Xor(m::Op(&greatest), bits(&middle)))) {
    return false;
  }
  zero = IntegerConstant(zero);
  greatest = IntegerConstant(greatest);
  return left == number && middle == number && right == number && IsConstantOf(zero, 0) && greatest->IsConstant() &&
         greatest->literal().GetFirstInteger() == xla::LiteralUtil::MaxValue(type).GetFirstInteger();
}

struct Comparison {
  ComparisonDirection direction;
  bool total;
};

// The comparison that `value` computes between the two elements of sort operand `key`, as left to right; else nullopt.
std::optional<Comparison> ComparisonOf(const HloInstruction* value, const HloComputation& comparator, int64_t key) {
  if (value->opcode() != HloOpcode::kCompare) return std::nullopt;
  const HloInstruction* const left = comparator.parameter_instruction(2 * key);
  const HloInstruction* const right = comparator.parameter_instruction(2 * key + 1);
  if (value->operand(0) == left && value->operand(1) == right) {
    return Comparison{value->comparison_direction(), value->comparison_order() == xla::ComparisonOrder::kTotal};
  }
  if (IsTotalOrderKey(value->operand(0), left) && IsTotalOrderKey(value->operand(1), right)) {
    return Comparison{value->comparison_direction(), true};
  }
  return std::nullopt;
}

// Whether `value` compares the keys for equality.
bool IsEquality(const HloInstruction* value, const HloComputation& comparator) {
  const std::optional<Comparison> comparison = ComparisonOf(value, comparator, 0);
  return comparison.has_value() && comparison->direction == ComparisonDirection::kEq;
}

// The comparison that orders elements with equal keys; null if `root` does not distinguish them.
const HloInstruction* TieComparison(const HloInstruction* root, const HloComputation& comparator) {
  const bool is = root->opcode() == HloOpcode::kSelect && comparator.num_parameters() > 2 &&
                  IsEquality(WithoutConstants(root->operand(0)), comparator);
  return is ? WithoutConstants(root->operand(1)) : nullptr;
}

// The instructions that represent each result of a sort; nullopt if an instruction uses the whole tuple.
std::optional<std::vector<std::vector<HloInstruction*>>> ResultsOf(const HloInstruction* sort) {
  std::vector<std::vector<HloInstruction*>> results(sort->operand_count());
  if (sort == sort->parent()->root_instruction()) return std::nullopt;
  if (!sort->shape().IsTuple()) {
    results[0] = {const_cast<HloInstruction*>(sort)};
    return results;
  }
  for (HloInstruction* user : sort->users()) {
    if (user->opcode() != HloOpcode::kGetTupleElement) return std::nullopt;
    results[user->tuple_index()].push_back(user);
  }
  return results;
}

// Number of leading elements of the dimension that a value's users read, if all users are slices of the same elements.
std::optional<int64_t> SlicedElements(const HloInstruction* value, int64_t dimension) {
  std::optional<int64_t> count;
  if (value == value->parent()->root_instruction()) return std::nullopt;
  for (const HloInstruction* user : value->users()) {
    if (user->opcode() != HloOpcode::kSlice) return std::nullopt;
    for (int64_t i = 0; i < user->shape().dimensions_size(); ++i) {
      const bool whole = user->slice_limits(i) == value->shape().dimensions(i);
      if (user->slice_starts(i) != 0 || user->slice_strides(i) != 1 || (i != dimension && !whole)) return std::nullopt;
    }
    if (count.has_value() && *count != user->slice_limits(dimension)) return std::nullopt;
    count = user->slice_limits(dimension);
  }
  return count;
}

int64_t CountOf(const Sort& sort) {
  std::optional<int64_t> count;
  for (const Sort::Operand& operand : sort.operands) {
    for (const HloInstruction* value : operand.results) {
      const std::optional<int64_t> taken = SlicedElements(value, sort.dimension);
      if (!taken.has_value() || *taken == 0 || (count.has_value() && *count != *taken)) return sort.size;
      count = taken;
    }
  }
  return count.value_or(sort.size);
}

bool IsPosition(const HloInstruction* value, int64_t dimension) {
  return value->shape().element_type() == xla::S32 && IsIota(value, dimension);
}

bool MayNegate(xla::PrimitiveType type) { return type == xla::F32 || type == xla::F16 || type == xla::BF16; }

}  // namespace

std::optional<SortOrder> SortOrderOf(const HloComputation* comparator) {
  SortOrder order;
  const HloInstruction* root = WithoutConstants(comparator->root_instruction());
  if (const HloInstruction* const tie = TieComparison(root, *comparator); tie != nullptr) {
    const std::optional<Comparison> by_second = ComparisonOf(tie, *comparator, 1);
    if (!by_second.has_value() || by_second->direction != ComparisonDirection::kLt || !by_second->total) {
      return std::nullopt;
    }
    order.ties_by_second = true;
    root = WithoutConstants(root->operand(2));
  }
  const std::optional<Comparison> comparison = ComparisonOf(root, *comparator, 0);
  if (!comparison.has_value()) return std::nullopt;
  order.total = comparison->total;
  order.descending = comparison->direction == ComparisonDirection::kGt;
  const bool known = order.descending || comparison->direction == ComparisonDirection::kLt;
  return known ? std::optional(order) : std::nullopt;
}

int64_t Sort::payloads() const {
  return absl::c_count_if(absl::MakeConstSpan(operands).subspan(1),
                          [](const Operand& operand) { return !operand.results.empty() && !operand.is_position; });
}

std::optional<Sort> DescribeSort(const HloInstruction* sort) {
  if (sort->opcode() != HloOpcode::kSort) return std::nullopt;
  const std::optional<SortOrder> order = SortOrderOf(sort->to_apply());
  auto results = ResultsOf(sort);
  if (!order.has_value() || !results.has_value()) return std::nullopt;
  Sort found;
  found.descending = order->descending;
  found.total_order = order->total;
  found.stable = xla::Cast<xla::HloSortInstruction>(sort)->is_stable() || order->ties_by_second;
  found.dimension = sort->dimensions(0);
  for (int64_t i = 0; i < sort->operand_count(); ++i) {
    HloInstruction* const value = sort->operands()[i];
    found.operands.push_back({value, i > 0 && IsPosition(value, found.dimension), std::move((*results)[i])});
  }
  if (order->ties_by_second && !found.operands[1].is_position) return std::nullopt;
  found.size = sort->operand(0)->shape().dimensions(found.dimension);
  found.count = CountOf(found);
  return found;
}

SortKeys SortKeysOf(const HloInstruction* sort, bool may_transpose) {
  SortKeys keys{SourceOf(sort->operands()[0]), false, {}, sort->dimensions(0)};
  while (true) {
    const HloOpcode opcode = keys.operand->opcode();
    if (opcode == HloOpcode::kNegate && MayNegate(keys.operand->shape().element_type())) {
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

}  // namespace hpu::hlo
