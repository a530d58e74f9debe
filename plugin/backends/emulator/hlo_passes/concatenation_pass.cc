#include "plugin/backends/emulator/hlo_passes/concatenation_pass.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plugin/backends/emulator/kernels/concatenation.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Below, a call costs as much as it saves.
constexpr int64_t kLeastElements = 2048;
constexpr int64_t kLeastPieceBytes = 32;  // on the average

// Whether the operand of a concatenation is a slice that the kernel can take out of its source itself: one along the
// same dimension, of what is in memory anyway. Of other sources XLA computes the slices alone.
bool IsReadInPlace(const HloInstruction* operand, const HloInstruction* concatenation) {
  if (operand->opcode() != HloOpcode::kSlice) return false;
  const HloInstruction* const source = operand->operand(0);
  for (int64_t i = 0; i < source->shape().rank(); ++i) {
    const bool whole = operand->shape().dimensions(i) == source->shape().dimensions(i);
    if (i == concatenation->concatenate_dimension() ? operand->slice_strides(i) != 1 : !whole) return false;
  }
  const auto is_for_it_alone = [concatenation](const HloInstruction* user) {
    return user->opcode() == HloOpcode::kSlice && user->user_count() == 1 && user->users()[0] == concatenation;
  };
  return source->opcode() == HloOpcode::kParameter || source->opcode() == HloOpcode::kCustomCall ||
         std::all_of(source->users().begin(), source->users().end(), is_for_it_alone);
}

absl::StatusOr<HloInstruction*> KernelOf(HloInstruction* concatenation, KernelCalls* calls) {
  const xla::Shape& shape = concatenation->shape();
  if (!IsFloatArray(shape) || xla::ShapeUtil::ElementsIn(shape) < kLeastElements) return nullptr;
  const int64_t dimension = concatenation->concatenate_dimension();
  Concatenation kernel;
  int64_t inner_bytes = xla::ShapeUtil::ByteSizeOf(shape);
  for (int64_t i = 0; i <= dimension; ++i) inner_bytes /= shape.dimensions(i);
  for (int64_t i = 0; i < dimension; ++i) kernel.outer *= shape.dimensions(i);
  std::vector<HloInstruction*> sources;
  for (HloInstruction* operand : concatenation->operands()) {
    if (!IsFloatArray(operand->shape())) return nullptr;
    const bool slice = IsReadInPlace(operand, concatenation);
    sources.push_back(slice ? operand->mutable_operand(0) : operand);
    kernel.pieces.push_back({sources.back()->shape().dimensions(dimension) * inner_bytes,
                             slice ? operand->slice_starts(dimension) * inner_bytes : 0,
                             operand->shape().dimensions(dimension) * inner_bytes});
  }
  const auto count = static_cast<int64_t>(kernel.pieces.size());
  if (shape.dimensions(dimension) * inner_bytes < kLeastPieceBytes * count) return nullptr;
  return calls->Add(kernel.Spec(), sources, shape);
}

}  // namespace

absl::Status UseConcatenationKernels(xla::HloModule* module, KernelCalls* calls) {
  return ReplaceAll(module, HloOpcode::kConcatenate,
                    [calls](HloInstruction* concatenation) { return KernelOf(concatenation, calls); });
}

}  // namespace hpu::emulator
