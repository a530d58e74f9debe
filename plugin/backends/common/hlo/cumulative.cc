#include "plugin/backends/common/hlo/cumulative.h"

#include "plugin/backends/common/hlo/instructions.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/service/pattern_matcher.h"
#include "xla/window_util.h"

namespace hpu::hlo {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using Extent = Cumulative::Extent;
using Function = Cumulative::Function;

// True for max + log1p(exp(max is finite ? min - max : -|max|)) of two scalars, as tf2xla writes it.
bool AddsExponentials(const xla::HloComputation* computation) {
  namespace m = xla::match;
  const auto x = m::Parameter(0), y = m::Parameter(1);
  const auto greater = m::Maximum(x, y);
  const auto exponent =
      m::Select(m::Not(m::IsFinite(greater)), m::Negate(m::Abs(greater)), m::Subtract(m::Minimum(x, y), greater));
  return computation->num_parameters() == 2 &&
         xla::Match(computation->root_instruction(),
                    m::Add(greater, m::Op().WithOpcode(HloOpcode::kLog1p).WithOperand(0, m::Exp(exponent))));
}

std::optional<Function> FunctionOf(const xla::HloComputation* computation) {
  if (Computes(computation, HloOpcode::kAdd)) return Function::kAdd;
  if (Computes(computation, HloOpcode::kMultiply)) return Function::kMultiply;
  return AddsExponentials(computation) ? std::optional(Function::kLogAddExp) : std::nullopt;
}

bool StartsAtIdentity(const HloInstruction* reduction, Function function) {
  // The identity of kLogAddExp is the identity of a maximum.
  return IsIdentity(function == Function::kAdd        ? HloOpcode::kAdd
                    : function == Function::kMultiply ? HloOpcode::kMultiply
                                                      : HloOpcode::kMaximum,
                    reduction->operand(1));
}

// Sets the dimension, direction and extent; false unless windows are as long as one dimension and padded on one side.
bool SetExtent(const xla::Window& window, const xla::Shape& shape, Cumulative* found) {
  found->dimension = -1;
  for (int64_t i = 0; i < shape.dimensions_size(); ++i) {
    const xla::WindowDimension& d = window.dimensions(i);
    if (xla::window_util::IsTrivialWindowDimension(d)) continue;
    const int64_t before = d.padding_low(), after = d.padding_high(), size = shape.dimensions(i);
    if (found->dimension >= 0 || d.size() != size || d.stride() != 1 || d.window_dilation() != 1 ||
        d.base_dilation() != 1 || (before != 0 && after != 0)) {
      return false;
    }
    const int64_t padding = before + after;
    if (padding != size - 1 && padding != size) return false;
    found->dimension = i;
    found->reverse = before == 0;
    found->extent = padding == size ? Extent::kWithIdentity : Extent::kInclusive;
  }
  return found->dimension >= 0;
}

std::optional<Cumulative> OfReduction(const HloInstruction* reduction) {
  if (reduction->opcode() != HloOpcode::kReduceWindow || reduction->operand_count() != 2 ||
      !IsPlainArray(reduction->shape())) {
    return std::nullopt;
  }
  const xla::Shape& shape = reduction->operand(0)->shape();
  const std::optional<Function> function = FunctionOf(reduction->to_apply());
  if (!IsPlainArray(shape) || shape.element_type() != reduction->shape().element_type() || !function.has_value() ||
      !StartsAtIdentity(reduction, *function)) {
    return std::nullopt;
  }
  Cumulative found;
  found.function = *function;
  found.operand = reduction->operands()[0];
  return SetExtent(reduction->window(), shape, &found) ? std::optional(found) : std::nullopt;
}

// Whether `slice` cuts off the element that includes all others: the last, or the first in reverse.
bool MakesExclusive(const HloInstruction* slice, const Cumulative& sums) {
  for (int64_t i = 0; i < slice->shape().dimensions_size(); ++i) {
    const int64_t size = slice->operand(0)->shape().dimensions(i);
    const bool cut = i == sums.dimension, first = cut && sums.reverse, last = cut && !sums.reverse;
    if (slice->slice_strides(i) != 1 || slice->slice_starts(i) != (first ? 1 : 0) ||
        slice->slice_limits(i) != (last ? size - 1 : size)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<Cumulative> DescribeCumulative(const HloInstruction* instruction) {
  if (instruction->opcode() != HloOpcode::kSlice) return OfReduction(instruction);
  std::optional<Cumulative> sums = OfReduction(SourceOf(instruction->operand(0)));
  if (!sums.has_value() || sums->extent != Extent::kWithIdentity || !MakesExclusive(instruction, *sums)) {
    return std::nullopt;
  }
  sums->extent = Extent::kExclusive;
  return sums;
}

}  // namespace hpu::hlo
