#include "plugin/backends/emulator/hlo_passes/pooling_pass.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "plugin/backends/common/hlo/instructions.h"
#include "plugin/backends/common/hlo/pooling.h"
#include "plugin/backends/common/hlo/window_reduction.h"
#include "plugin/backends/emulator/kernels/max_gradient.h"
#include "plugin/backends/emulator/kernels/window_reduction.h"
#include "plugin/base/status_macros.h"
#include "xla/service/hlo_creation_utils.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// With fewer adjacent elements, XLA's loops are as fast.
constexpr int64_t kMinInner = 4;

// Merges the dimensions before the first windowed dimension, and the dimensions after the last windowed dimension.
std::optional<Windows> WindowsOf(std::vector<hlo::WindowDimension> dimensions) {
  Windows windows;
  while (!dimensions.empty() && dimensions.back().IsTrivial()) {
    windows.inner *= dimensions.back().input;
    dimensions.pop_back();
  }
  auto first = std::find_if_not(dimensions.begin(), dimensions.end(), std::mem_fn(&hlo::WindowDimension::IsTrivial));
  for (auto it = dimensions.begin(); it != first; ++it) windows.outer *= it->input;
  dimensions.erase(dimensions.begin(), first);
  if (dimensions.size() > windows.dimensions.size() || windows.inner < kMinInner) return std::nullopt;
  std::transform(dimensions.begin(), dimensions.end(), windows.dimensions.end() - dimensions.size(),
                 [](const hlo::WindowDimension& d) -> Windows::Dimension {
                   return {d.input, d.output, d.window, d.stride, d.dilation, d.base_dilation, d.pad_low};
                 });
  return windows;
}

// Whether each window holds one element, or none at the edges, as in the gradient of pooling without overlaps. XLA's
// loops and the kernel would test every position of such windows.
bool Repeat(const std::vector<hlo::WindowDimension>& dimensions) {
  return std::all_of(dimensions.begin(), dimensions.end(), [](const hlo::WindowDimension& d) {
    return d.stride == 1 && d.dilation == 1 && d.window == d.base_dilation;
  });
}

// Repeats each element once per position of the window, and inserts `edge` where a window is empty. Unlike a sum that
// starts at 0, a repetition keeps -0.
absl::StatusOr<HloInstruction*> Repeated(HloInstruction* operand, const std::vector<hlo::WindowDimension>& dimensions,
                                         HloInstruction* edge) {
  std::vector<int64_t> copies, from, repeated;
  xla::PaddingConfig padding;
  bool whole = true;
  for (const hlo::WindowDimension& d : dimensions) {
    from.push_back(copies.size());
    copies.push_back(d.input);
    if (d.window > 1) copies.push_back(d.window);
    repeated.push_back(d.input * d.window);
    const int64_t low = d.pad_low - (d.window - 1), high = d.output - repeated.back() - low;
    auto* sides = padding.add_dimensions();
    sides->set_edge_padding_low(low);
    sides->set_edge_padding_high(high);
    whole = whole && low == 0 && high == 0;
  }
  HPU_ASSIGN_OR_RETURN(HloInstruction* const elements,
                       xla::MakeReshapeHlo(repeated, xla::MakeBroadcastHlo(operand, from, copies)));
  if (whole) return elements;
  return xla::MakePadHlo(elements, edge, padding);
}

// Replaces a reduce-window, or a pad that only crops one.
absl::StatusOr<HloInstruction*> WindowReductionKernel(HloInstruction* instruction, KernelCalls* calls) {
  const std::optional<hlo::WindowReduction> found = hlo::DescribeWindowReduction(instruction);
  if (!found.has_value() || !hlo::IsFloatArray(instruction->shape()) ||
      !hlo::IsFloatArray(found->reduction->operand(0)->shape()) || !hlo::IsFloatArray(found->operand->shape())) {
    return nullptr;
  }
  WindowReduction kernel;
  const bool add = found->function == HloOpcode::kAdd;
  if (!add && found->function != HloOpcode::kMaximum) return nullptr;
  kernel.function = add ? WindowReduction::Function::kAdd : WindowReduction::Function::kMax;
  kernel.bfloat16 = instruction->shape().element_type() == xla::BF16;
  // The kernel skips empty elements.
  if (!found->starts_at_identity || (add && kernel.bfloat16)) return nullptr;
  if (Repeat(found->dimensions)) return Repeated(found->operand, found->dimensions, found->initial);
  const std::optional<Windows> windows = WindowsOf(found->dimensions);
  if (!windows.has_value()) return nullptr;
  kernel.windows = *windows;
  return calls->Add(kernel.Spec(), {found->operand}, instruction->shape());
}

absl::StatusOr<HloInstruction*> GradientKernel(HloInstruction* scatter, KernelCalls* calls) {
  const std::optional<hlo::MaxScatter> found = hlo::DescribeMaxScatter(scatter);
  const xla::Shape& shape = scatter->shape();
  if (!found.has_value() || found->selection != hlo::MaxSelection::kNotLess || !hlo::IsFloat32Array(shape) ||
      !hlo::IsFloatArray(found->gradient->shape())) {
    return nullptr;
  }
  const std::optional<Windows> windows = WindowsOf(found->dimensions);
  if (!windows.has_value()) return nullptr;
  HloInstruction* const x = found->image;
  const KernelSpec spec = MaxGradient{*windows, hlo::IsWidened(x)}.Spec();
  if (!MakeKernel(spec).ok()) return nullptr;
  return calls->Add(spec, {hlo::IsWidened(x) ? x->mutable_operand(0) : x, found->gradient}, shape);
}

}  // namespace

absl::Status UsePoolingKernels(xla::HloModule* module, KernelCalls* calls) {
  for (const HloOpcode opcode : {HloOpcode::kPad, HloOpcode::kReduceWindow}) {
    HPU_RETURN_IF_ERROR(ReplaceAll(
        module, opcode, [calls](HloInstruction* reduction) { return WindowReductionKernel(reduction, calls); }));
  }
  return ReplaceAll(module, HloOpcode::kSelectAndScatter,
                    [calls](HloInstruction* scatter) { return GradientKernel(scatter, calls); });
}

}  // namespace hpu::emulator
