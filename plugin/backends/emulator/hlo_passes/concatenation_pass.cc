#include "plugin/backends/emulator/hlo_passes/concatenation_pass.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "plugin/backends/common/hlo/instructions.h"
#include "plugin/backends/emulator/hlo_passes/memory_values.h"
#include "plugin/backends/emulator/kernels/concatenation.h"
#include "plugin/base/status_macros.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Below this size, a kernel call costs as much as it saves.
constexpr int64_t kMinConcatenationElements = 2048;
constexpr int64_t kMinPieceBytes = 32;  // on average
// Limited because each repetition is an operand.
constexpr int64_t kMaxTimes = 64;

// Whether the concatenation is the only user of `source` and reads all of it, in slices along `dimension`.
bool IsForSlicesOf(const HloInstruction* source, const HloInstruction* concatenation, int64_t dimension) {
  int64_t taken = 0;
  for (const HloInstruction* user : source->users()) {
    if (user->opcode() != HloOpcode::kSlice || user->user_count() != 1 || user->users()[0] != concatenation)
      return false;
    taken += user->shape().dimensions(dimension);
  }
  return taken >= source->shape().dimensions(dimension);
}

// Whether the operand of a concatenation is a slice, along the same dimension, that the kernel can read from the sliced
// array. The array must be in memory anyway or needed as a whole; otherwise XLA computes only the slices.
bool IsReadInPlace(const HloInstruction* operand, const HloInstruction* concatenation) {
  if (operand->opcode() != HloOpcode::kSlice || !hlo::IsFloatArray(operand->operand(0)->shape())) return false;
  const HloInstruction* const source = operand->operand(0);
  const int64_t dimension = concatenation->concatenate_dimension();
  for (int64_t i = 0; i < source->shape().dimensions_size(); ++i) {
    const bool whole = operand->shape().dimensions(i) == source->shape().dimensions(i);
    if (i == dimension ? operand->slice_strides(i) != 1 : !whole) return false;
  }
  return source->opcode() == HloOpcode::kParameter || source->opcode() == HloOpcode::kCustomCall ||
         IsForSlicesOf(source, concatenation, dimension);
}

absl::StatusOr<HloInstruction*> ConcatenationCall(HloInstruction* concatenation, KernelCalls* calls) {
  const xla::Shape& shape = concatenation->shape();
  if (!hlo::IsFloatArray(shape) || xla::ShapeUtil::ElementsIn(shape) < kMinConcatenationElements) return nullptr;
  const int64_t dimension = concatenation->concatenate_dimension();
  Concatenation kernel;
  int64_t inner_bytes = xla::ShapeUtil::ByteSizeOf(shape);
  for (int64_t i = 0; i <= dimension; ++i) inner_bytes /= shape.dimensions(i);
  for (int64_t i = 0; i < dimension; ++i) kernel.outer *= shape.dimensions(i);
  std::vector<HloInstruction*> sources;
  for (HloInstruction* operand : concatenation->operands()) {
    if (!hlo::IsFloatArray(operand->shape())) return nullptr;
    const bool slice = IsReadInPlace(operand, concatenation);
    sources.push_back(slice ? operand->mutable_operand(0) : operand);
    kernel.pieces.push_back({sources.back()->shape().dimensions(dimension) * inner_bytes,
                             slice ? operand->slice_starts(dimension) * inner_bytes : 0,
                             operand->shape().dimensions(dimension) * inner_bytes});
  }
  const auto count = static_cast<int64_t>(kernel.pieces.size());
  if (shape.dimensions(dimension) * inner_bytes < kMinPieceBytes * count) return nullptr;
  return calls->Add(kernel.Spec(), sources, shape);
}

// Replaces tf.tile along one dimension with a concatenation of the array with itself. tf2xla emits a broadcast that
// inserts one dimension before another, followed by a reshape that merges both. Leaves a tiling to XLA if its result is
// not needed in memory, because XLA fuses such a tiling into its users.
absl::StatusOr<HloInstruction*> TiledKernelOf(HloInstruction* reshape, KernelCalls* calls) {
  HloInstruction* const broadcast = reshape->mutable_operand(0);
  const xla::Shape& shape = broadcast->shape();
  if (broadcast->opcode() != HloOpcode::kBroadcast || !hlo::IsFloatArray(shape) ||
      xla::ShapeUtil::ElementsIn(shape) < kMinConcatenationElements ||
      shape.dimensions_size() != broadcast->operand(0)->shape().dimensions_size() + 1 || !IsNeededInMemory(reshape)) {
    return nullptr;
  }
  const absl::Span<const int64_t> kept = broadcast->dimensions();
  int64_t repeated = 0;
  Concatenation kernel;
  for (; repeated < static_cast<int64_t>(kept.size()) && kept[repeated] == repeated; ++repeated) {
    kernel.outer *= shape.dimensions(repeated);
  }
  const int64_t times = shape.dimensions(repeated);
  std::vector<int64_t> tiled(shape.dimensions().begin(), shape.dimensions().end());
  tiled.erase(tiled.begin() + repeated);
  if (repeated == shape.dimensions_size() - 1 || times < 2 || times > kMaxTimes) return nullptr;
  tiled[repeated] *= times;
  const int64_t bytes = xla::ShapeUtil::ByteSizeOf(broadcast->operand(0)->shape()) / kernel.outer;
  if (!std::is_sorted(kept.begin(), kept.end()) || !absl::c_equal(reshape->shape().dimensions(), tiled) ||
      bytes < kMinPieceBytes) {
    return nullptr;
  }
  kernel.pieces.assign(times, {bytes, 0, bytes});
  return calls->Add(kernel.Spec(), std::vector<HloInstruction*>(times, broadcast->mutable_operand(0)),
                    reshape->shape());
}

}  // namespace

absl::Status UseConcatenationKernels(xla::HloModule* module, KernelCalls* calls) {
  HPU_RETURN_IF_ERROR(ReplaceAll(module, HloOpcode::kReshape,
                                 [calls](HloInstruction* reshape) { return TiledKernelOf(reshape, calls); }));
  return ReplaceAll(module, HloOpcode::kConcatenate,
                    [calls](HloInstruction* concatenation) { return ConcatenationCall(concatenation, calls); });
}

}  // namespace hpu::emulator
