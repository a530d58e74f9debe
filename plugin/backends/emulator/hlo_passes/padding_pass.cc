#include "plugin/backends/emulator/hlo_passes/padding_pass.h"

#include <cstdint>

#include "plugin/backends/emulator/hlo_passes/memory_values.h"
#include "plugin/backends/emulator/kernels/padding.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Below this size, a kernel call costs as much as it saves.
constexpr int64_t kMinPaddedBytes = 16 << 10;
constexpr int64_t kMinRowBytes = 256;

bool HasDimensions(const xla::Shape& shape) { return IsPlainArray(shape) && shape.rank() > 0; }

Padding PaddingOf(const HloInstruction* pad) {
  const xla::Shape &operand = pad->operand(0)->shape(), &result = pad->shape();
  Padding padding{xla::ShapeUtil::ByteSizeOfPrimitiveType(result.element_type()), {}};
  for (int64_t i = 0; i < result.rank(); ++i) {
    padding.dimensions.push_back(
        {operand.dimensions(i), result.dimensions(i), pad->padding_config().dimensions(i).edge_padding_low()});
  }
  return padding.Simplified();
}

absl::StatusOr<HloInstruction*> PaddingKernel(HloInstruction* pad, KernelCalls* calls) {
  if (!HasDimensions(pad->shape()) || !HasDimensions(pad->operand(0)->shape()) ||
      xla::ShapeUtil::ByteSizeOf(pad->shape()) < kMinPaddedBytes || xla::HasInteriorPadding(pad->padding_config()) ||
      !IsInMemory(pad->operand(0)) || !IsNeededInMemory(pad)) {
    return nullptr;
  }
  const Padding padding = PaddingOf(pad);
  if (padding.dimensions.back().result * padding.element_bytes < kMinRowBytes) return nullptr;
  return calls->Add(padding.Spec(), pad->operands(), pad->shape());
}

}  // namespace

absl::Status UsePaddingKernels(xla::HloModule* module, KernelCalls* calls) {
  return ReplaceAll(module, HloOpcode::kPad, [calls](HloInstruction* pad) { return PaddingKernel(pad, calls); });
}

}  // namespace hpu::emulator
