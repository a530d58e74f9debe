#include "plugin/backends/emulator/hlo_passes/cumulative_pass.h"

#include <cstdint>
#include <limits>
#include <optional>

#include "plugin/backends/emulator/kernels/cumulative.h"
#include "plugin/base/status_macros.h"
#include "xla/service/hlo_creation_utils.h"
#include "xla/service/pattern_matcher.h"
#include "xla/window_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// A cumulative reduction along one dimension. With `from_neutral`, the result has one more element, which is the
// neutral element and comes first (last in reverse).
struct Description {
  Cumulative kernel;
  int64_t dimension = -1;
  bool from_neutral = false;
};

std::optional<Description> Describe(const xla::Window& window, const xla::Shape& shape) {
  Description found;
  Cumulative& sum = found.kernel;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    const xla::WindowDimension& d = window.dimensions(i);
    if (xla::window_util::IsTrivialWindowDimension(d)) {
      (found.dimension < 0 ? sum.outer : sum.inner) *= shape.dimensions(i);
      continue;
    }
    const int64_t before = d.padding_low(), after = d.padding_high(), size = shape.dimensions(i);
    if (found.dimension >= 0 || d.size() != size || d.stride() != 1 || d.window_dilation() != 1 ||
        d.base_dilation() != 1 || (before != 0 && after != 0)) {
      return std::nullopt;
    }
    found.dimension = i;
    sum.size = size;
    sum.reverse = before == 0;
    const int64_t padding = before + after;
    if (padding != size - 1 && padding != size) return std::nullopt;
    found.from_neutral = padding == size;
  }
  return found.dimension < 0 ? std::nullopt : std::optional(found);
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

bool StartsAtScanIdentity(HloInstruction* reduction, Cumulative::Function function) {
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
  if (!function.has_value() || !StartsAtScanIdentity(reduction, *function)) return nullptr;
  if (*function == Cumulative::Function::kLogAddExp && *type != NumberType::kFloat32) return nullptr;
  std::optional<Description> found = Describe(reduction->window(), shape);
  if (!found.has_value()) return nullptr;
  found->kernel.function = *function;
  found->kernel.type = *type;
  HPU_ASSIGN_OR_RETURN(HloInstruction * result,
                       calls->Add(found->kernel.Spec(), {reduction->mutable_operand(0)}, shape));
  if (!found->from_neutral) return result;
  xla::PaddingConfig padding = xla::MakeNoPaddingConfig(shape.rank());
  xla::PaddingConfig::PaddingConfigDimension* edge = padding.mutable_dimensions(found->dimension);
  found->kernel.reverse ? edge->set_edge_padding_high(1) : edge->set_edge_padding_low(1);
  return xla::MakePadHlo(result, reduction->mutable_operand(1), padding);
}

}  // namespace

absl::Status UseCumulativeKernels(xla::HloModule* module, KernelCalls* calls) {
  return ReplaceAll(module, HloOpcode::kReduceWindow,
                    [calls](HloInstruction* reduction) { return CumulativeKernel(reduction, calls); });
}

}  // namespace hpu::emulator
