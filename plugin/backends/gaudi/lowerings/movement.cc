// Shapes and data movement.
#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "plugin/backends/gaudi/lowerings/lowerings.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/backends/gaudi/synapse/params.h"
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
  const int64_t rank = instruction.shape().rank();
  const int64_t operand_rank = instruction.operand(0)->shape().rank();
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
  const int64_t rank = instruction.shape().rank();
  std::vector<int64_t> permutation(SizesOf(instruction.shape()).size());
  for (int64_t d = 0; d < rank; ++d) permutation[d] = rank - 1 - instruction.dimensions(rank - 1 - d);
  HPU_ASSIGN_OR_RETURN(const TensorId value, Transpose(lowering.builder(), x, permutation));
  lowering.SetBroadcastable(instruction, value);
  return absl::OkStatus();
}

absl::Status LowerSlice(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(const TensorId x, lowering.Broadcastable(instruction.operand(0)));
  const int64_t rank = instruction.shape().rank();
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
  const size_t axis = Axis(instruction.shape().rank(), instruction.concatenate_dimension());
  HPU_ASSIGN_OR_RETURN(const TensorId value,
                       Concatenate(lowering.builder(), std::move(parts), static_cast<uint32_t>(axis)));
  lowering.Set(instruction, value);
  return absl::OkStatus();
}

// Pads of an instruction, fastest dimension first.
struct Padding {
  std::vector<int64_t> low, high;
  std::vector<uint64_t> steps;  // interior padding + 1
  bool is_plain = true;         // neither negative nor interior padding
};

Padding PaddingOf(const HloInstruction& instruction) {
  Padding padding;
  const int64_t rank = instruction.shape().rank();
  for (int64_t d = rank - 1; d >= 0; --d) {
    const auto& dimension = instruction.padding_config().dimensions(static_cast<int>(d));
    padding.low.push_back(dimension.edge_padding_low());
    padding.high.push_back(dimension.edge_padding_high());
    padding.steps.push_back(dimension.interior_padding() + 1);
    padding.is_plain &= padding.low.back() >= 0 && padding.high.back() >= 0 && padding.steps.back() == 1;
  }
  return padding;
}

// pad_fwd, for a constant value.
absl::StatusOr<TensorId> PadByKernel(PlanBuilder& builder, TensorId x, double value, const Padding& padding) {
  synapse::ns_PadKernel::Params params = {};
  if (IsFloat(builder.type(x))) {
    params.value.f = static_cast<float>(value);
  } else {
    params.value.i = static_cast<int32_t>(value);
  }
  Sizes sizes = builder.sizes(x);
  for (size_t d = 0; d < sizes.size(); ++d) {
    params.pads[d] = static_cast<uint32_t>(padding.low[d]);
    params.pads[d + 5] = static_cast<uint32_t>(padding.high[d]);
    sizes[d] += padding.low[d] + padding.high[d];
  }
  return builder.AddTyped("pad_fwd", builder.type(x), {x}, {builder.type(x), sizes}, ParamsBytes(params));
}

// Inserts x into an array of the value, which has no pads below 0. Then cuts negative pads off.
absl::StatusOr<TensorId> PadByInsertion(PlanBuilder& builder, TensorId x, TensorId value, const Padding& padding) {
  Sizes sizes;
  std::vector<uint64_t> starts, cut_starts, cut_ends;
  for (size_t d = 0; d < padding.low.size(); ++d) {
    const uint64_t inner = (builder.sizes(x)[d] - 1) * padding.steps[d] + 1;
    starts.push_back(std::max<int64_t>(padding.low[d], 0));
    sizes.push_back(starts.back() + inner + std::max<int64_t>(padding.high[d], 0));
    cut_starts.push_back(std::max<int64_t>(-padding.low[d], 0));
    cut_ends.push_back(sizes.back() - std::max<int64_t>(-padding.high[d], 0));
  }
  TensorId padded = x;
  if (sizes != builder.sizes(x)) {
    HPU_ASSIGN_OR_RETURN(const TensorId background, Splat(builder, value, sizes));
    HPU_ASSIGN_OR_RETURN(padded, SliceInsert(builder, background, x, starts, padding.steps));
  }
  return Slice(builder, padded, cut_starts, cut_ends, std::vector<uint64_t>(sizes.size(), 1));
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
  const Padding padding = PaddingOf(instruction);
  if (padding.low.empty()) {
    lowering.Set(instruction, x);
    return absl::OkStatus();
  }
  const HloInstruction* constant = instruction.operand(1);
  if (padding.is_plain && constant->opcode() == HloOpcode::kConstant && padding.low.size() <= 5 &&
      builder.type(x) != synapse::syn_type_int64 && builder.Has("pad_fwd", builder.type(x))) {
    const double number = constant->literal().GetAsDouble({}).value_or(0);
    HPU_ASSIGN_OR_RETURN(const TensorId padded, PadByKernel(builder, x, number, padding));
    lowering.Set(instruction, padded);
    return absl::OkStatus();
  }
  HPU_ASSIGN_OR_RETURN(const TensorId padded, PadByInsertion(builder, x, value, padding));
  lowering.Set(instruction, padded);
  return absl::OkStatus();
}

absl::Status LowerReverse(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(TensorId x, lowering.Operand(instruction, 0));
  const int64_t rank = instruction.shape().rank();
  for (const int64_t dimension : instruction.dimensions()) {
    const size_t axis = Axis(rank, dimension);
    if (builder.sizes(x)[axis] == 1) continue;
    HPU_ASSIGN_OR_RETURN(const TensorId index,
                         IntegerScalar(builder, synapse::syn_type_int32, static_cast<int64_t>(axis), 1));
    HPU_ASSIGN_OR_RETURN(x, builder.AddTyped("reverse", builder.type(x), {x, index}, builder.tensor_type(x)));
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
