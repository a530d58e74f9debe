#include "plugin/backends/emulator/hlo_passes/transposition_pass.h"

#include <cstdint>

#include "absl/algorithm/container.h"
#include "plugin/backends/common/hlo/instructions.h"
#include "plugin/backends/emulator/kernels/transposition.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Below this size, the array stays in the L2 cache, and a fused loop is as fast.
constexpr int64_t kMinTransposedBytes = 64 << 10;

// Whether the transposition moves the operand's last non-degenerate dimension (of more than one element).
bool MovesLast(const HloInstruction* transpose) {
  const xla::Shape &from = transpose->operand(0)->shape(), &to = transpose->shape();
  int64_t last = from.dimensions_size() - 1, last_of_result = to.dimensions_size() - 1;
  while (last >= 0 && from.dimensions(last) == 1) --last;
  while (last_of_result >= 0 && to.dimensions(last_of_result) == 1) --last_of_result;
  return last_of_result >= 0 && transpose->dimensions(last_of_result) != last;
}

bool TakesTranspositions(const HloInstruction* instruction) {
  switch (instruction->opcode()) {
    case HloOpcode::kConvolution:
    case HloOpcode::kDot:
    case HloOpcode::kReduce:
    case HloOpcode::kTranspose:
      return true;
    default:
      return false;
  }
}

bool IsTakenByUser(const HloInstruction* value) {
  return absl::c_any_of(value->users(), [](const HloInstruction* user) {
    const bool hands_on = user->opcode() == HloOpcode::kReshape || user->opcode() == HloOpcode::kConvert;
    return TakesTranspositions(user) || (hands_on && IsTakenByUser(user));
  });
}

absl::StatusOr<HloInstruction*> TranspositionKernel(HloInstruction* transpose, KernelCalls* calls) {
  const xla::Shape& shape = transpose->operand(0)->shape();
  if (!shape.is_static() || xla::ShapeUtil::IsZeroElementArray(shape) ||
      xla::ShapeUtil::ByteSizeOf(shape) < kMinTransposedBytes || !MovesLast(transpose) || IsTakenByUser(transpose) ||
      TakesTranspositions(hlo::SourceOf(transpose->mutable_operand(0)))) {
    return nullptr;
  }
  const Transposition kernel{xla::ShapeUtil::ByteSizeOfPrimitiveType(shape.element_type()),
                             {shape.dimensions().begin(), shape.dimensions().end()},
                             {transpose->dimensions().begin(), transpose->dimensions().end()}};
  const bool has_kernel = kernel.element_bytes == 2 || kernel.element_bytes == 4 || kernel.element_bytes == 8;
  if (!has_kernel) return nullptr;
  return calls->Add(kernel.Spec(), {transpose->mutable_operand(0)}, transpose->shape());
}

}  // namespace

absl::Status UseTranspositionKernels(xla::HloModule* module, KernelCalls* calls) {
  return ReplaceAll(module, HloOpcode::kTranspose,
                    [calls](HloInstruction* transpose) { return TranspositionKernel(transpose, calls); });
}

}  // namespace hpu::emulator
