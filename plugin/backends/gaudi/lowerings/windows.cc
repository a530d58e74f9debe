// Lowerings of window reductions: pooling, cumulative sums, and their gradients.
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/common/hlo/cumulative.h"
#include "plugin/backends/common/hlo/instructions.h"
#include "plugin/backends/common/hlo/pooling.h"
#include "plugin/backends/common/hlo/window_reduction.h"
#include "plugin/backends/gaudi/lowerings/elementwise_operands.h"
#include "plugin/backends/gaudi/lowerings/lowerings.h"
#include "plugin/backends/gaudi/lowerings/pooling_nodes.h"
#include "plugin/backends/gaudi/lowerings/scalar_computations.h"
#include "plugin/backends/gaudi/lowerings/select_and_scatter.h"
#include "plugin/backends/gaudi/lowerings/window_reductions.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/narrow_integers.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/backends/gaudi/plan/padding.h"
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/base/status_macros.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/literal_util.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hpu::gaudi {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// The kernel of a function that reduces windows; empty if there is none.
absl::string_view WindowKernelOf(HloOpcode function) {
  switch (function) {
    case HloOpcode::kAdd:
      return "add_fwd";
    case HloOpcode::kMultiply:
      return "mult_fwd";
    case HloOpcode::kMaximum:
      return "max_fwd";
    case HloOpcode::kMinimum:
      return "min_fwd";
    case HloOpcode::kAnd:
      return "bitwise_and_fwd";
    case HloOpcode::kOr:
      return "bitwise_or_fwd";
    case HloOpcode::kXor:
      return "bitwise_xor_fwd";
    default:
      return "";
  }
}

xla::Literal IdentityOf(HloOpcode function, xla::PrimitiveType type) {
  switch (function) {
    case HloOpcode::kMultiply:
      return xla::LiteralUtil::One(type);
    case HloOpcode::kMaximum:
      return xla::LiteralUtil::MinValue(type);
    case HloOpcode::kMinimum:
      return xla::LiteralUtil::MaxValue(type);
    case HloOpcode::kAnd:
      // All bits are 1.
      return xla::primitive_util::IsSignedIntegralType(type)
                 ? xla::LiteralUtil::CreateR0<int32_t>(-1).Convert(type).value()
                 : xla::LiteralUtil::MaxValue(type);
    default:
      return xla::LiteralUtil::Zero(type);
  }
}

Combine CombineByKernel(PlanBuilder& builder, absl::string_view stem) {
  return [&builder, stem](TensorId a, TensorId b) { return Elementwise(builder, stem, {a, b}); };
}

// A window reduction, and the type in which kernels compute it.
struct WindowNodes {
  const hlo::WindowReduction& reduction;
  std::optional<hlo::Pooling> pooling;  // that kernels compute
  xla::PrimitiveType type;
};

// Mask of the windows that hold a NaN.
absl::StatusOr<TensorId> HaveNan(PlanBuilder& builder, const WindowNodes& windows, TensorId x) {
  HPU_ASSIGN_OR_RETURN(const TensorId is_number, Compare(builder, "equal_fwd", x, x));
  if (windows.pooling.has_value()) {
    HPU_ASSIGN_OR_RETURN(const TensorId zero, ScalarLike(builder, x, 0));
    HPU_ASSIGN_OR_RETURN(const TensorId one, ScalarLike(builder, x, 1));
    HPU_ASSIGN_OR_RETURN(const TensorId numbers, Where(builder, is_number, zero, one));
    HPU_ASSIGN_OR_RETURN(const TensorId largest, MaxPoolNode(builder, *windows.pooling, numbers));
    return Compare(builder, "greater_fwd", largest, zero);
  }
  const Windows dimensions = WindowsFromFastest(windows.reduction.dimensions);
  HPU_ASSIGN_OR_RETURN(TensorId is_nan, Not(builder, is_number));
  HPU_ASSIGN_OR_RETURN(is_nan, PadWithZeros(builder, is_nan, PaddingOfWindows(dimensions)));
  return ReduceWindows(builder, is_nan, dimensions, CombineByKernel(builder, "bitwise_or_fwd"));
}

// Combines the windows of x.
absl::StatusOr<TensorId> ReduceAll(PlanBuilder& builder, const WindowNodes& windows, TensorId x) {
  if (windows.pooling.has_value() && windows.reduction.function == HloOpcode::kMaximum) {
    return MaxPoolNode(builder, *windows.pooling, x);
  }
  if (windows.pooling.has_value()) return SumPoolNodes(builder, *windows.pooling, x);
  const Windows dimensions = WindowsFromFastest(windows.reduction.dimensions);
  HPU_ASSIGN_OR_RETURN(
      x, Pad(builder, x, IdentityOf(windows.reduction.function, windows.type), PaddingOfWindows(dimensions)));
  return ReduceWindows(builder, x, dimensions, CombineByKernel(builder, WindowKernelOf(windows.reduction.function)));
}

// Describes the reduction as a pooling; nullopt if no pooling kernel computes it.
std::optional<hlo::Pooling> KernelPoolingOf(const HloInstruction& instruction, synapse::synDataType type) {
  std::optional<hlo::Pooling> pooling;
  if (const auto max = hlo::DescribeMaxPooling(&instruction); max.has_value()) pooling = max->pooling;
  if (const auto sum = hlo::DescribeAveragePooling(&instruction); sum.has_value()) pooling = sum->pooling;
  return pooling.has_value() && HasPoolingKernels(*pooling, type) ? pooling : std::nullopt;
}

absl::StatusOr<TensorId> LowerWindows(Lowering& lowering, const HloInstruction& instruction,
                                      const hlo::WindowReduction& reduction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(TensorId x, lowering.Value(reduction.operand));
  WindowNodes windows = {reduction, std::nullopt, instruction.shape().element_type()};
  const synapse::synDataType type = builder.type(x);
  const bool has_hidden_sign = IsExtremum(reduction.function) && HasHiddenSign(instruction);
  if (has_hidden_sign) {
    HPU_ASSIGN_OR_RETURN(x, FlipSign(builder, x));
    windows.type = windows.type == xla::U32 ? xla::S32 : xla::S64;
  }
  // Narrow integers without a kernel, such as u16, are computed as i32.
  const xla::PrimitiveType element_type = windows.type;
  const bool is_word = xla::primitive_util::IsIntegralType(element_type) &&
                       xla::primitive_util::BitWidth(element_type) < 32 &&
                       !builder.Has(WindowKernelOf(reduction.function), type);
  if (is_word) {
    HPU_ASSIGN_OR_RETURN(x, ToWord(builder, x, element_type));
    windows.type = xla::S32;
  }
  const bool is_sum = reduction.function == HloOpcode::kAdd || reduction.function == HloOpcode::kMultiply;
  if (is_sum && IsFloat(type)) {
    // Sums of bfloat16 lose their low bits, so they are float32.
    HPU_ASSIGN_OR_RETURN(x, Cast(builder, x, synapse::syn_type_float));
    windows.type = xla::F32;
  }
  windows.pooling = KernelPoolingOf(instruction, builder.type(x));
  HPU_ASSIGN_OR_RETURN(TensorId value, ReduceAll(builder, windows, x));
  TensorId initial = kNoTensor;
  if (!reduction.starts_at_identity) {
    HPU_ASSIGN_OR_RETURN(initial, lowering.Value(reduction.initial));
    HPU_ASSIGN_OR_RETURN(
        initial, is_word ? ToWord(builder, initial, element_type) : Cast(builder, initial, builder.type(value)));
    if (has_hidden_sign) {
      HPU_ASSIGN_OR_RETURN(initial, FlipSign(builder, initial));
    }
    HPU_ASSIGN_OR_RETURN(initial, Reshape(builder, initial, Sizes(builder.sizes(value).size(), 1)));
    HPU_ASSIGN_OR_RETURN(value, Elementwise(builder, WindowKernelOf(reduction.function), {value, initial}));
  }
  if (IsExtremum(reduction.function) && IsFloat(type)) {
    // HLO's extremum is NaN if an element is NaN; what the kernels return is not known.
    HPU_ASSIGN_OR_RETURN(TensorId have_nan, HaveNan(builder, windows, x));
    HPU_ASSIGN_OR_RETURN(const TensorId nan, ScalarLike(builder, value, std::numeric_limits<double>::quiet_NaN()));
    HPU_ASSIGN_OR_RETURN(value, Where(builder, have_nan, nan, value));
    if (initial != kNoTensor) {
      HPU_ASSIGN_OR_RETURN(const TensorId is_number, Compare(builder, "equal_fwd", initial, initial));
      HPU_ASSIGN_OR_RETURN(value, Where(builder, is_number, value, nan));
    }
  }
  if (is_word) return FromWord(builder, value, element_type);
  return has_hidden_sign ? FlipSign(builder, value) : Cast(builder, value, type);
}

// cumsum_fwd. Sums of bfloat16 are float32.
absl::StatusOr<TensorId> CumulativeSum(PlanBuilder& builder, const hlo::Cumulative& cumulative, TensorId x) {
  const synapse::synDataType type = builder.type(x);
  const size_t rank = builder.sizes(x).size();
  const size_t axis = rank - 1 - cumulative.dimension;
  if (IsFloat(type)) {
    HPU_ASSIGN_OR_RETURN(x, Cast(builder, x, synapse::syn_type_float));
  }
  synapse::ns_CumSumKernel::Params params = {};
  params.axis = static_cast<int32_t>(axis);
  params.reverse = cumulative.reverse;
  if (cumulative.extent == hlo::Cumulative::Extent::kWithIdentity) {
    // The sum of all elements is the exclusive sum at an additional element after the last one.
    Padding behind(rank);
    (cumulative.reverse ? behind.low : behind.high)[axis] = 1;
    HPU_ASSIGN_OR_RETURN(x, PadWithZeros(builder, x, behind));
    params.exclusive = 1;
  }
  HPU_ASSIGN_OR_RETURN(
      x, builder.AddTyped("cumsum_fwd", builder.type(x), {x}, builder.tensor_type(x), ParamsBytes(params)));
  return Cast(builder, x, type);
}

// Applies the reduction's computation, for which there may be no kernel, to slices. The initial value fills the
// padding, because it must be the computation's identity.
absl::StatusOr<TensorId> LowerOtherWindows(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  const Combine combine = [&](TensorId a, TensorId b) -> absl::StatusOr<TensorId> {
    const Sizes sizes = builder.sizes(a);
    HPU_ASSIGN_OR_RETURN(a, Reshape(builder, a, {ElementCount(sizes)}));
    HPU_ASSIGN_OR_RETURN(b, Reshape(builder, b, {ElementCount(sizes)}));
    HPU_ASSIGN_OR_RETURN(const std::vector<TensorId> results, ApplyToElements(lowering, instruction, {a, b}));
    return Reshape(builder, results.front(), sizes);
  };
  const Windows windows = WindowsFromFastest(
      hlo::WindowDimensionsOf(instruction.window(), instruction.operand(0)->shape(), instruction.shape()));
  HPU_ASSIGN_OR_RETURN(TensorId x, lowering.Operand(instruction, 0));
  HPU_ASSIGN_OR_RETURN(const TensorId initial, lowering.Operand(instruction, 1));
  HPU_ASSIGN_OR_RETURN(x, Pad(builder, x, initial, PaddingOfWindows(windows)));
  HPU_ASSIGN_OR_RETURN(x, ReduceWindows(builder, x, windows, combine));
  const Sizes sizes = builder.sizes(x);
  HPU_ASSIGN_OR_RETURN(const TensorId initials, Splat(builder, initial, sizes));
  return combine(initials, x);
}

absl::StatusOr<TensorId> LowerDescribedWindows(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(const TensorType type, lowering.TypeOf(instruction));
  const auto cumulative = hlo::DescribeCumulative(&instruction);
  if (cumulative.has_value() && cumulative->function == hlo::Cumulative::Function::kAdd &&
      builder.Has("cumsum_fwd", type.type) && type.sizes.size() <= kMaxKernelRank) {
    HPU_ASSIGN_OR_RETURN(const TensorId x, lowering.Value(cumulative->operand));
    return CumulativeSum(builder, *cumulative, x);
  }
  const auto reduction = hlo::DescribeWindowReduction(&instruction);
  if (!reduction.has_value() || WindowKernelOf(reduction->function).empty()) {
    return LowerOtherWindows(lowering, instruction);
  }
  // A sum over a dilated input is the gradient of a sum.
  const auto gradient = hlo::DescribeAveragePoolingGradient(&instruction);
  const bool is_forward = hlo::DescribeAveragePooling(&instruction).has_value();
  if (gradient.has_value() && !is_forward && HasPoolingKernels(gradient->pooling, type.type)) {
    HPU_ASSIGN_OR_RETURN(const TensorId x, lowering.Value(reduction->operand));
    return SumPoolGradientNodes(builder, gradient->pooling, x);
  }
  return LowerWindows(lowering, instruction, *reduction);
}

// The scalar `value` as all elements of the instruction's result.
absl::Status SetAllTo(Lowering& lowering, const HloInstruction& instruction, const HloInstruction* value) {
  HPU_ASSIGN_OR_RETURN(TensorId x, lowering.Value(value));
  HPU_ASSIGN_OR_RETURN(x, Reshape(lowering.builder(), x, Sizes(SizesOf(instruction.shape()).size(), 1)));
  lowering.SetBroadcastable(instruction, x);
  return absl::OkStatus();
}

absl::Status LowerReduceWindow(Lowering& lowering, const HloInstruction& instruction) {
  if (!instruction.shape().IsArray()) {
    return absl::UnimplementedError("Gaudi has no kernel for a reduce-window of several arrays");
  }
  if (xla::ShapeUtil::IsZeroElementArray(instruction.operand(0)->shape())) {
    return SetAllTo(lowering, instruction, instruction.operand(1));
  }
  HPU_ASSIGN_OR_RETURN(const TensorId value, LowerDescribedWindows(lowering, instruction));
  lowering.Set(instruction, value);
  return absl::OkStatus();
}

absl::Status LowerSelectAndScatter(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  if (xla::ShapeUtil::IsZeroElementArray(instruction.operand(1)->shape())) {
    return SetAllTo(lowering, instruction, instruction.operand(2));
  }
  if (!hlo::Computes(instruction.scatter(), HloOpcode::kAdd)) {
    return absl::UnimplementedError(
        "Gaudi has no kernel for a select-and-scatter whose scatter computation is not add");
  }
  HPU_ASSIGN_OR_RETURN(const TensorId image, lowering.Operand(instruction, 0));
  HPU_ASSIGN_OR_RETURN(const TensorId gradient, lowering.Operand(instruction, 1));
  const auto pooling = hlo::DescribeMaxPoolingGradient(&instruction);
  if (pooling.has_value() && HasPoolingKernels(pooling->pooling, builder.type(image))) {
    HPU_ASSIGN_OR_RETURN(const TensorId value, MaxPoolGradientNodes(builder, *pooling, image, gradient));
    lowering.Set(instruction, value);
    return absl::OkStatus();
  }
  HPU_ASSIGN_OR_RETURN(TensorId value, ScatterToChosen(lowering, instruction, image, gradient));
  if (!hlo::IsConstantOf(instruction.operand(2), 0)) {
    HPU_ASSIGN_OR_RETURN(TensorId initial, lowering.Operand(instruction, 2));
    HPU_ASSIGN_OR_RETURN(initial, Reshape(builder, initial, Sizes(builder.sizes(value).size(), 1)));
    HPU_ASSIGN_OR_RETURN(value, Elementwise(builder, "add_fwd", {initial, value}));
  }
  lowering.Set(instruction, value);
  return absl::OkStatus();
}

}  // namespace

void AddWindows(LowerTable* table) {
  (*table)[HloOpcode::kReduceWindow] = LowerReduceWindow;
  (*table)[HloOpcode::kSelectAndScatter] = LowerSelectAndScatter;
}

}  // namespace hpu::gaudi
