#include "plugin/backends/emulator/hlo_passes/pooling_pass.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "plugin/backends/emulator/hlo_passes/first_maximum.h"
#include "plugin/backends/emulator/kernels/max_gradient.h"
#include "plugin/backends/emulator/kernels/window_reduction.h"
#include "plugin/base/status_macros.h"
#include "xla/service/hlo_creation_utils.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using Dimension = Windows::Dimension;

// With fewer adjacent elements, XLA's loops are as fast.
constexpr int64_t kMinInner = 4;

bool IsPlain(const Dimension& d) {
  return d.window == 1 && d.stride == 1 && d.base_dilation == 1 && d.pad_low == 0 && d.input == d.output;
}

// Merges the dimensions before the first windowed dimension, and the dimensions after the last windowed dimension.
std::optional<Windows> WindowsOf(std::vector<Dimension> dimensions) {
  Windows windows;
  while (!dimensions.empty() && IsPlain(dimensions.back())) {
    windows.inner *= dimensions.back().input;
    dimensions.pop_back();
  }
  auto first = std::find_if_not(dimensions.begin(), dimensions.end(), IsPlain);
  for (auto it = dimensions.begin(); it != first; ++it) windows.outer *= it->input;
  dimensions.erase(dimensions.begin(), first);
  if (dimensions.size() > windows.dimensions.size() || windows.inner < kMinInner) return std::nullopt;
  std::copy(dimensions.begin(), dimensions.end(), windows.dimensions.end() - dimensions.size());
  return windows;
}

std::vector<Dimension> DimensionsOf(const xla::Window& window, const xla::Shape& input, const xla::Shape& output) {
  std::vector<Dimension> dimensions;
  for (int64_t i = 0; i < input.rank(); ++i) {
    const xla::WindowDimension& w = window.dimensions(i);
    dimensions.push_back({input.dimensions(i), output.dimensions(i), w.size(), w.stride(), w.window_dilation(),
                          w.base_dilation(), w.padding_low()});
  }
  return dimensions;
}

// If `operand` is padded with `value`, which the windows ignore: returns the unpadded array and adds the padding to
// `dimensions`. Else returns `operand`.
HloInstruction* WithoutPadding(HloInstruction* operand, float value, std::vector<Dimension>* dimensions) {
  HloInstruction* pad = SourceOf(operand);
  if (pad->opcode() != HloOpcode::kPad || ScalarOf(pad->mutable_operand(1)) != value) return operand;
  for (size_t i = 0; i < dimensions->size(); ++i) {
    const auto& edge = pad->padding_config().dimensions(i);
    if ((*dimensions)[i].base_dilation != 1 || edge.edge_padding_low() < 0 || edge.edge_padding_high() < 0) {
      return operand;
    }
  }
  for (size_t i = 0; i < dimensions->size(); ++i) {
    const auto& edge = pad->padding_config().dimensions(i);
    Dimension& d = (*dimensions)[i];
    d.input = pad->operand(0)->shape().dimensions(i);
    d.base_dilation = edge.interior_padding() + 1;
    d.pad_low += edge.edge_padding_low();
  }
  return pad->mutable_operand(0);
}

// Whether each window holds one element, or none at the edges, as in the gradient of pooling without overlaps. XLA's
// loops and the kernel would test every position of such windows.
bool Repeat(const std::vector<Dimension>& dimensions) {
  return std::all_of(dimensions.begin(), dimensions.end(), [](const Dimension& d) {
    return d.stride == 1 && d.dilation == 1 && d.window == d.base_dilation;
  });
}

// Repeats each element once per position of the window, and inserts `edge` where a window is empty. Unlike a sum that
// starts at 0, a repetition keeps -0.
absl::StatusOr<HloInstruction*> Repeated(HloInstruction* operand, const std::vector<Dimension>& dimensions,
                                         HloInstruction* edge) {
  std::vector<int64_t> copies, from, repeated;
  xla::PaddingConfig padding;
  bool whole = true;
  for (const Dimension& d : dimensions) {
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

// Computes `cut`, which is `reduction` or a part of it that starts at `begin`.
absl::StatusOr<HloInstruction*> ReductionKernel(HloInstruction* cut, HloInstruction* reduction,
                                                const std::vector<int64_t>& begin, KernelCalls* calls) {
  const xla::Shape& shape = reduction->shape();
  if (!IsFloatArray(shape) || !IsFloatArray(cut->shape()) || !IsFloatArray(reduction->operand(0)->shape())) {
    return nullptr;
  }
  WindowReduction kernel;
  const bool add = Computes(reduction->to_apply(), HloOpcode::kAdd);
  if (!add && !Computes(reduction->to_apply(), HloOpcode::kMaximum)) return nullptr;
  kernel.function = add ? WindowReduction::Function::kAdd : WindowReduction::Function::kMax;
  kernel.bfloat16 = shape.element_type() == xla::BF16;
  // The initial value must be the function's identity, because the kernel skips empty elements.
  const float initial = add ? 0 : -std::numeric_limits<float>::infinity();
  if (ScalarOf(reduction->mutable_operand(1)) != initial || (add && kernel.bfloat16)) return nullptr;
  std::vector<Dimension> dimensions = DimensionsOf(reduction->window(), reduction->operand(0)->shape(), cut->shape());
  for (size_t i = 0; i < dimensions.size(); ++i) dimensions[i].pad_low -= begin[i] * dimensions[i].stride;
  HloInstruction* operand = WithoutPadding(reduction->mutable_operand(0), initial, &dimensions);
  if (Repeat(dimensions)) return Repeated(operand, dimensions, reduction->mutable_operand(1));
  const std::optional<Windows> windows = WindowsOf(std::move(dimensions));
  if (!windows.has_value() || !IsFloatArray(operand->shape())) return nullptr;
  kernel.windows = *windows;
  return calls->Add(kernel.Spec(), {operand}, cut->shape());
}

bool IsReduction(const HloInstruction* instruction) {
  return instruction->opcode() == HloOpcode::kReduceWindow && instruction->shape().IsArray();
}

// Handles a pad that only crops.
absl::StatusOr<HloInstruction*> CutReductionKernel(HloInstruction* pad, KernelCalls* calls) {
  HloInstruction* reduction = SourceOf(pad->mutable_operand(0));
  if (!IsReduction(reduction) || reduction->user_count() != 1) return nullptr;
  std::vector<int64_t> begin;
  for (const auto& edge : pad->padding_config().dimensions()) {
    if (edge.edge_padding_low() > 0 || edge.edge_padding_high() > 0 || edge.interior_padding() != 0) return nullptr;
    begin.push_back(-edge.edge_padding_low());
  }
  return ReductionKernel(pad, reduction, begin, calls);
}

absl::StatusOr<HloInstruction*> GradientKernel(HloInstruction* scatter, KernelCalls* calls) {
  const xla::Shape& shape = scatter->shape();
  if (!IsFloat32Array(shape) || !IsFloatArray(scatter->operand(1)->shape()) ||
      !SelectsFirstMaximum(scatter->select()) || !Computes(scatter->scatter(), HloOpcode::kAdd) ||
      ScalarOf(scatter->mutable_operand(2)) != 0.0f) {
    return nullptr;
  }
  const auto windows = WindowsOf(DimensionsOf(scatter->window(), shape, scatter->operand(1)->shape()));
  if (!windows.has_value()) return nullptr;
  HloInstruction* const x = scatter->mutable_operand(0);
  const KernelSpec spec = MaxGradient{*windows, IsWidened(x)}.Spec();
  if (!MakeKernel(spec).ok()) return nullptr;
  return calls->Add(spec, {IsWidened(x) ? x->mutable_operand(0) : x, scatter->mutable_operand(1)}, shape);
}

}  // namespace

absl::Status UsePoolingKernels(xla::HloModule* module, KernelCalls* calls) {
  HPU_RETURN_IF_ERROR(
      ReplaceAll(module, HloOpcode::kPad, [calls](HloInstruction* pad) { return CutReductionKernel(pad, calls); }));
  HPU_RETURN_IF_ERROR(ReplaceAll(
      module, HloOpcode::kReduceWindow, [calls](HloInstruction* reduction) -> absl::StatusOr<HloInstruction*> {
        if (!IsReduction(reduction)) return nullptr;
        return ReductionKernel(reduction, reduction, std::vector<int64_t>(reduction->shape().rank(), 0), calls);
      }));
  return ReplaceAll(module, HloOpcode::kSelectAndScatter,
                    [calls](HloInstruction* scatter) { return GradientKernel(scatter, calls); });
}

}  // namespace hpu::emulator
