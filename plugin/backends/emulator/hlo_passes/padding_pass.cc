#include "plugin/backends/emulator/hlo_passes/padding_pass.h"

#include <cstdint>

#include "absl/algorithm/container.h"
#include "plugin/backends/emulator/kernels/padding.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Below, a call costs as much as it saves.
constexpr int64_t kLeastBytes = 16 << 10;
constexpr int64_t kLeastRowBytes = 256;

bool IsPlainArray(const xla::Shape& shape) {
  return shape.IsArray() && shape.is_static() && shape.rank() > 0 && !xla::ShapeUtil::IsZeroElementArray(shape);
}

// Whether XLA makes it a loop of its own, or nobody does: other values are computed in the loop that pads them.
bool IsInMemory(const HloInstruction* value) {
  switch (value->opcode()) {
    case HloOpcode::kBitcast:
    case HloOpcode::kReshape:
      return IsInMemory(value->operand(0));
    case HloOpcode::kConvolution:
    case HloOpcode::kCustomCall:
    case HloOpcode::kDot:
    case HloOpcode::kGetTupleElement:
    case HloOpcode::kParameter:
      return true;
    default:
      return false;
  }
}

// Whether all that reads the value reads it from memory. A convolution that has no kernel takes the padding itself.
bool IsNeededInMemory(const HloInstruction* value) {
  return absl::c_all_of(value->users(), [](const HloInstruction* user) {
    switch (user->opcode()) {
      case HloOpcode::kReshape:
        return IsNeededInMemory(user);
      case HloOpcode::kCustomCall:
      case HloOpcode::kDot:
      case HloOpcode::kTuple:
        return true;
      default:
        return false;
    }
  });
}

Padding PaddingOf(const HloInstruction* pad) {
  const xla::Shape &operand = pad->operand(0)->shape(), &result = pad->shape();
  Padding padding{xla::ShapeUtil::ByteSizeOfPrimitiveType(result.element_type()), {}};
  for (int64_t i = 0; i < result.rank(); ++i) {
    padding.dimensions.push_back(
        {operand.dimensions(i), result.dimensions(i), pad->padding_config().dimensions(i).edge_padding_low()});
  }
  return padding.Simplified();
}

absl::StatusOr<HloInstruction*> KernelOf(HloInstruction* pad, KernelCalls* calls) {
  if (!IsPlainArray(pad->shape()) || !IsPlainArray(pad->operand(0)->shape()) ||
      xla::ShapeUtil::ByteSizeOf(pad->shape()) < kLeastBytes || xla::HasInteriorPadding(pad->padding_config()) ||
      !IsInMemory(pad->operand(0)) || !IsNeededInMemory(pad)) {
    return nullptr;
  }
  const Padding padding = PaddingOf(pad);
  if (padding.dimensions.back().result * padding.element_bytes < kLeastRowBytes) return nullptr;
  return calls->Add(padding.Spec(), pad->operands(), pad->shape());
}

}  // namespace

absl::Status UsePaddingKernels(xla::HloModule* module, KernelCalls* calls) {
  return ReplaceAll(module, HloOpcode::kPad, [calls](HloInstruction* pad) { return KernelOf(pad, calls); });
}

}  // namespace hpu::emulator
