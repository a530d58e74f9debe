// Lowerings of reshapes, broadcasts, slices and other data movement.
#include <cstdint>

#include "absl/status/status.h"
#include "plugin/backends/gaudi/lowerings/lowerings.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/backends/gaudi/plan/padding.h"
#include "plugin/base/status_macros.h"
#include "xla/literal.h"

namespace hpu::gaudi {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Index of an HLO dimension in sizes.
size_t Axis(int64_t rank, int64_t dimension) { return static_cast<size_t>(rank - 1 - dimension); }

absl::Status LowerReshape(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(TensorId x, lowering.Broadcastable(instruction.operand(0)));
  const Sizes sizes = SizesOf(instruction.shape());
  if (ElementCount(builder.sizes(x)) == 1) {
    HPU_ASSIGN_OR_RETURN(x, Reshape(builder, x, Sizes(sizes.size(), 1)));
  } else {
    HPU_ASSIGN_OR_RETURN(x, lowering.Operand(instruction, 0));
    HPU_ASSIGN_OR_RETURN(x, Reshape(builder, x, sizes));
  }
  lowering.SetBroadcastable(instruction, x);
  return absl::OkStatus();
}

// Only adds dimensions of size 1: users broadcast where they need to.
absl::Status LowerBroadcast(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(const TensorId x, lowering.Broadcastable(instruction.operand(0)));
  const int64_t rank = instruction.shape().dimensions_size();
  const int64_t operand_rank = instruction.operand(0)->shape().dimensions_size();
  Sizes sizes(SizesOf(instruction.shape()).size(), 1);
  for (int64_t d = 0; d < operand_rank; ++d) {
    sizes[Axis(rank, instruction.dimensions(d))] = builder.sizes(x)[Axis(operand_rank, d)];
  }
  HPU_ASSIGN_OR_RETURN(const TensorId value, Reshape(builder, x, sizes));
  lowering.SetBroadcastable(instruction, value);
  return absl::OkStatus();
}

absl::Status LowerTranspose(Lowering& lowering, const HloInstruction& instruction) {
  HPU_ASSIGN_OR_RETURN(const TensorId x, lowering.Broadcastable(instruction.operand(0)));
  HPU_ASSIGN_OR_RETURN(const TensorId value, HloTranspose(lowering.builder(), x, instruction.dimensions()));
  lowering.SetBroadcastable(instruction, value);
  return absl::OkStatus();
}

absl::Status LowerSlice(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(const TensorId x, lowering.Broadcastable(instruction.operand(0)));
  const int64_t rank = instruction.shape().dimensions_size();
  const Sizes& sizes = builder.sizes(x);
  std::vector<uint64_t> starts(sizes.size(), 0);
  std::vector<uint64_t> ends = sizes;
  std::vector<uint64_t> steps(sizes.size(), 1);
  for (int64_t d = 0; d < rank; ++d) {
    const size_t axis = Axis(rank, d);
    if (sizes[axis] == 1) continue;  // the elements are equal, or there is one
    starts[axis] = instruction.slice_starts(d);
    ends[axis] = instruction.slice_limits(d);
    steps[axis] = instruction.slice_strides(d);
  }
  HPU_ASSIGN_OR_RETURN(const TensorId value, Slice(builder, x, starts, ends, steps));
  lowering.SetBroadcastable(instruction, value);
  return absl::OkStatus();
}

absl::Status LowerConcatenate(Lowering& lowering, const HloInstruction& instruction) {
  std::vector<TensorId> parts;
  for (const HloInstruction* operand : instruction.operands()) {
    if (xla::ShapeUtil::IsZeroElementArray(operand->shape())) continue;
    HPU_ASSIGN_OR_RETURN(const TensorId part, lowering.Value(operand));
    parts.push_back(part);
  }
  const size_t axis = Axis(instruction.shape().dimensions_size(), instruction.concatenate_dimension());
  HPU_ASSIGN_OR_RETURN(const TensorId value,
                       Concatenate(lowering.builder(), std::move(parts), static_cast<uint32_t>(axis)));
  lowering.Set(instruction, value);
  return absl::OkStatus();
}

Padding PaddingOf(const HloInstruction& instruction) {
  const int64_t rank = instruction.shape().dimensions_size();
  Padding padding(rank);
  for (int64_t d = 0; d < rank; ++d) {
    const auto& dimension = instruction.padding_config().dimensions(static_cast<int>(d));
    const size_t axis = Axis(rank, d);
    padding.low[axis] = dimension.edge_padding_low();
    padding.high[axis] = dimension.edge_padding_high();
    padding.steps[axis] = dimension.interior_padding() + 1;
  }
  return padding;
}

absl::Status LowerPad(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(const TensorId value, lowering.Operand(instruction, 1));
  if (xla::ShapeUtil::IsZeroElementArray(instruction.operand(0)->shape())) {
    HPU_ASSIGN_OR_RETURN(const TensorId only, Reshape(builder, value, Sizes(SizesOf(instruction.shape()).size(), 1)));
    lowering.SetBroadcastable(instruction, only);
    return absl::OkStatus();
  }
  HPU_ASSIGN_OR_RETURN(const TensorId x, lowering.Operand(instruction, 0));
  const HloInstruction* constant = instruction.operand(1);
  const Padding padding = PaddingOf(instruction);
  const absl::StatusOr<TensorId> padded = constant->opcode() == HloOpcode::kConstant
                                              ? Pad(builder, x, constant->literal(), padding)
                                              : Pad(builder, x, value, padding);
  HPU_RETURN_IF_ERROR(padded.status());
  lowering.Set(instruction, *padded);
  return absl::OkStatus();
}

absl::Status LowerReverse(Lowering& lowering, const HloInstruction& instruction) {
  HPU_ASSIGN_OR_RETURN(TensorId x, lowering.Operand(instruction, 0));
  const int64_t rank = instruction.shape().dimensions_size();
  for (const int64_t dimension : instruction.dimensions()) {
    HPU_ASSIGN_OR_RETURN(x, Reverse(lowering.builder(), x, Axis(rank, dimension)));
  }
  lowering.Set(instruction, x);
  return absl::OkStatus();
}

absl::Status LowerCopy(Lowering& lowering, const HloInstruction& instruction) {
  HPU_ASSIGN_OR_RETURN(const TensorId x, lowering.Broadcastable(instruction.operand(0)));
  lowering.SetBroadcastable(instruction, x);
  return absl::OkStatus();
}

}  // namespace

void AddMovement(LowerTable* table) {
  (*table)[HloOpcode::kReshape] = LowerReshape;
  (*table)[HloOpcode::kBroadcast] = LowerBroadcast;
  (*table)[HloOpcode::kTranspose] = LowerTranspose;
  (*table)[HloOpcode::kSlice] = LowerSlice;
  (*table)[HloOpcode::kConcatenate] = LowerConcatenate;
  (*table)[HloOpcode::kPad] = LowerPad;
  (*table)[HloOpcode::kReverse] = LowerReverse;
  (*table)[HloOpcode::kCopy] = LowerCopy;
  (*table)[HloOpcode::kBitcast] = LowerReshape;
}

}  // namespace hpu::gaudi
