#include "plugin/backends/emulator/hlo_passes/cumulative_pass.h"

#include <cstdint>
#include <optional>

#include "plugin/backends/emulator/kernels/cumulative.h"
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

absl::StatusOr<HloInstruction*> KernelOf(HloInstruction* reduction, KernelCalls* calls) {
  if (!reduction->shape().IsArray() || !IsFloatArray(reduction->operand(0)->shape()) ||
      reduction->shape().element_type() != xla::F32 || reduction->operand(0)->shape().element_type() != xla::F32 ||
      reduction->operand_count() != 2) {
    return nullptr;
  }
  const bool product = Computes(reduction->to_apply(), HloOpcode::kMultiply);
  if ((!product && !Computes(reduction->to_apply(), HloOpcode::kAdd)) ||
      ScalarOf(reduction->mutable_operand(1)) != (product ? 1.0f : 0.0f)) {
    return nullptr;
  }
  std::optional<Cumulative> kernel = Describe(reduction->window(), reduction->operand(0)->shape());
  if (!kernel.has_value()) return nullptr;
  kernel->product = product;
  return calls->Add(kernel->Spec(), {reduction->mutable_operand(0)}, reduction->shape());
}

}  // namespace

absl::Status UseCumulativeKernels(xla::HloModule* module, KernelCalls* calls) {
  return ReplaceAll(module, HloOpcode::kReduceWindow,
                    [calls](HloInstruction* reduction) { return KernelOf(reduction, calls); });
}

}  // namespace hpu::emulator
