#include "plugin/backends/emulator/hlo_passes/cumulative_pass.h"

#include <cstdint>
#include <limits>
#include <optional>

#include "plugin/backends/emulator/kernels/cumulative.h"
#include "xla/service/pattern_matcher.h"
#include "xla/window_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

std::optional<Cumulative> Describe(const xla::Window& window, const xla::Shape& shape) {
  Cumulative sum;
  bool found = false;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    const xla::WindowDimension& d = window.dimensions(i);
    if (xla::window_util::IsTrivialWindowDimension(d)) {
      (found ? sum.inner : sum.outer) *= shape.dimensions(i);
      continue;
    }
    const int64_t before = d.padding_low(), after = d.padding_high(), size = shape.dimensions(i);
    if (found || d.size() != size || d.stride() != 1 || d.window_dilation() != 1 || d.base_dilation() != 1 ||
        (before != 0 && after != 0)) {
      return std::nullopt;
    }
    found = true;
    sum.size = size;
    sum.reverse = before == 0;
    const int64_t padding = before + after;
    if (padding != size - 1 && padding != size) return std::nullopt;
    sum.from_neutral = padding == size;
  }
  return found ? std::optional(sum) : std::nullopt;
}

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

std::optional<Cumulative::Function> FunctionOf(const xla::HloComputation* computation) {
  if (Computes(computation, HloOpcode::kAdd)) return Cumulative::Function::kAdd;
  if (Computes(computation, HloOpcode::kMultiply)) return Cumulative::Function::kMultiply;
  return AddsExponentials(computation) ? std::optional(Cumulative::Function::kLogAddExp) : std::nullopt;
}

bool BeginsNeutral(HloInstruction* reduction, Cumulative::Function function) {
  HloInstruction* const initial = reduction->mutable_operand(1);
  if (function == Cumulative::Function::kLogAddExp) return ScalarOf(initial) == -std::numeric_limits<float>::infinity();
  return IsConstantOf(initial, function == Cumulative::Function::kAdd ? 0 : 1);
}

absl::StatusOr<HloInstruction*> CumulativeKernel(HloInstruction* reduction, KernelCalls* calls) {
  if (!reduction->shape().IsArray() || reduction->operand_count() != 2) return nullptr;
  const xla::Shape& shape = reduction->operand(0)->shape();
  const std::optional<NumberType> type = NumberTypeOf(shape.element_type());
  if (!type.has_value() || reduction->shape().element_type() != shape.element_type() || !shape.is_static() ||
      xla::ShapeUtil::IsZeroElementArray(shape)) {
    return nullptr;
  }
  const std::optional<Cumulative::Function> function = FunctionOf(reduction->to_apply());
  if (!function.has_value() || !BeginsNeutral(reduction, *function)) return nullptr;
  if (*function == Cumulative::Function::kLogAddExp && *type != NumberType::kFloat32) return nullptr;
  std::optional<Cumulative> kernel = Describe(reduction->window(), shape);
  if (!kernel.has_value()) return nullptr;
  kernel->function = *function;
  kernel->type = *type;
  return calls->Add(kernel->Spec(), {reduction->mutable_operand(0)}, reduction->shape());
}

}  // namespace

absl::Status UseCumulativeKernels(xla::HloModule* module, KernelCalls* calls) {
  return ReplaceAll(module, HloOpcode::kReduceWindow,
                    [calls](HloInstruction* reduction) { return CumulativeKernel(reduction, calls); });
}

}  // namespace hpu::emulator
