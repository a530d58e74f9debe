#include "plugin/backends/emulator/hlo_passes/softmax_pass.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "plugin/backends/emulator/kernels/softmax.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Below this size, a kernel call costs as much as it saves.
constexpr int64_t kMinSoftmaxElements = 4096;
constexpr int64_t kMinSoftmaxColumns = 16;

// Whether the instruction returns the numbers of its operand in the same order, perhaps in another shape. If `type` is
// bfloat16, it may also convert between float32 and bfloat16, because the kernel rounds only its results.
bool KeepsNumbers(const HloInstruction* instruction, xla::PrimitiveType type) {
  if (instruction->operand_count() != 1) return false;
  const xla::Shape &shape = instruction->shape(), &before = instruction->operand(0)->shape();
  switch (instruction->opcode()) {
    case HloOpcode::kBroadcast:
      return std::is_sorted(instruction->dimensions().begin(), instruction->dimensions().end()) &&
             xla::ShapeUtil::ElementsIn(shape) == xla::ShapeUtil::ElementsIn(before);
    case HloOpcode::kReshape:
      return true;
    case HloOpcode::kConvert:
      return shape.element_type() == before.element_type() ||
             (type == xla::BF16 && IsFloatArray(shape) && IsFloatArray(before));
    default:
      return false;
  }
}

// Whether `wide` is `source` reduced over its last dimension by `opcode`, then broadcast back.
bool IsOfRows(HloInstruction* wide, HloInstruction* source, HloOpcode opcode, float initial) {
  const int64_t rank = source->shape().rank();
  const xla::PrimitiveType type = source->shape().element_type();
  if (wide->opcode() != HloOpcode::kBroadcast || static_cast<int64_t>(wide->dimensions().size()) != rank - 1) {
    return false;
  }
  for (int64_t i = 0; i < rank - 1; ++i) {
    if (wide->dimensions(i) != i) return false;
  }
  HloInstruction* reduce = wide->mutable_operand(0);
  while (KeepsNumbers(reduce, type)) reduce = reduce->mutable_operand(0);
  if (reduce->opcode() != HloOpcode::kReduce || reduce->operand_count() != 2 || reduce->dimensions().size() != 1 ||
      reduce->dimensions(0) != rank - 1 || reduce->operand(0)->shape().rank() != rank ||
      !Computes(reduce->to_apply(), opcode) || ScalarOf(reduce->mutable_operand(1)) != initial) {
    return false;
  }
  HloInstruction* reduced = SourceOf(reduce->mutable_operand(0));
  if (reduced != source && reduced->opcode() == HloOpcode::kConvert && KeepsNumbers(reduced, type)) {
    reduced = SourceOf(reduced->mutable_operand(0));
  }
  return reduced == source;
}

absl::StatusOr<HloInstruction*> SoftmaxKernel(HloInstruction* divide, KernelCalls* calls) {
  const xla::Shape& shape = divide->shape();
  if (!IsFloatArray(shape) || shape.rank() == 0) return nullptr;
  const Softmax kernel{shape.element_type() == xla::BF16,
                       xla::ShapeUtil::ElementsIn(shape) / shape.dimensions(shape.rank() - 1),
                       shape.dimensions(shape.rank() - 1)};
  if (kernel.columns < kMinSoftmaxColumns || kernel.rows * kernel.columns < kMinSoftmaxElements) return nullptr;
  HloInstruction* exp = SourceOf(divide->mutable_operand(0));
  // If the exponentials had other users, the program would compute them twice.
  if (exp->opcode() != HloOpcode::kExp || exp->user_count() != 2 ||
      !IsOfRows(SourceOf(divide->mutable_operand(1)), exp, HloOpcode::kAdd, 0)) {
    return nullptr;
  }
  HloInstruction* difference = SourceOf(exp->mutable_operand(0));
  if (difference->opcode() != HloOpcode::kSubtract || difference->user_count() != 1) return nullptr;
  HloInstruction* x = SourceOf(difference->mutable_operand(0));
  if (!IsOfRows(SourceOf(difference->mutable_operand(1)), x, HloOpcode::kMaximum,
                -std::numeric_limits<float>::infinity())) {
    return nullptr;
  }
  return calls->Add(kernel.Spec(), {x}, shape);
}

}  // namespace

absl::Status UseSoftmaxKernels(xla::HloModule* module, KernelCalls* calls) {
  return ReplaceAll(module, HloOpcode::kDivide,
                    [calls](HloInstruction* divide) { return SoftmaxKernel(divide, calls); });
}

}  // namespace hpu::emulator
