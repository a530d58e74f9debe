// Constants, conversions and sequences.
#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "plugin/backends/gaudi/lowerings/lowerings.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/base/status_macros.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/literal.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hpu::gaudi {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

absl::Status LowerConstant(Lowering& lowering, const HloInstruction& instruction) {
  if (!instruction.shape().IsArray()) return absl::UnimplementedError("constant tuples have no nodes");
  HPU_ASSIGN_OR_RETURN(TensorType type, lowering.TypeOf(instruction));
  const xla::Literal literal = instruction.literal().Relayout(xla::ShapeUtil::MakeShapeWithDescendingLayout(
      instruction.shape().element_type(), instruction.shape().dimensions()));
  std::string data(static_cast<const char*>(literal.untyped_data()), literal.size_bytes());
  if (literal.IsAllFirst()) {
    data.resize(BytesOf(type.type));
    type.sizes.assign(type.sizes.size(), 1);
  }
  HPU_ASSIGN_OR_RETURN(const TensorId id, lowering.builder().AddConstant(std::move(type), std::move(data)));
  lowering.SetBroadcastable(instruction, id);
  return absl::OkStatus();
}

absl::Status LowerIota(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(const TensorType type, lowering.TypeOf(instruction));
  const int64_t dimension = xla::Cast<xla::HloIotaInstruction>(&instruction)->iota_dimension();
  const size_t axis = type.sizes.size() - 1 - (instruction.shape().rank() == 0 ? 0 : dimension);
  const uint64_t count = type.sizes[axis];
  HPU_ASSIGN_OR_RETURN(TensorId range, Range(builder, count));
  HPU_ASSIGN_OR_RETURN(range, Cast(builder, range, type.type));
  Sizes sizes(type.sizes.size(), 1);
  sizes[axis] = count;
  HPU_ASSIGN_OR_RETURN(range, Reshape(builder, range, sizes));
  lowering.SetBroadcastable(instruction, range);
  return absl::OkStatus();
}

// Whether an element differs from zero.
absl::StatusOr<TensorId> IsNonZero(PlanBuilder& builder, TensorId x) {
  HPU_ASSIGN_OR_RETURN(const TensorId zero, ScalarLike(builder, x, 0));
  HPU_ASSIGN_OR_RETURN(const TensorId is_zero, Compare(builder, "equal_fwd", x, zero));
  return Not(builder, is_zero);
}

// HLO converts NaN to 0, and floats out of range to the nearest integer. Kernels need floats in range.
absl::StatusOr<TensorId> FloatToInteger(PlanBuilder& builder, TensorId x, xla::PrimitiveType target) {
  HPU_ASSIGN_OR_RETURN(x, Cast(builder, x, synapse::syn_type_float));
  HPU_ASSIGN_OR_RETURN(const synapse::synDataType type, SynapseType(target, builder.generation()));
  const int bits = xla::primitive_util::BitWidth(target);
  const bool is_unsigned = xla::primitive_util::IsUnsignedIntegralType(target);
  if (is_unsigned && bits >= 32) return absl::UnimplementedError("floats have no conversion to unsigned integers");
  const int digits = is_unsigned ? bits : bits - 1;
  const double high = std::ldexp(1.0, digits);
  const double low = is_unsigned ? 0 : -high;
  HPU_ASSIGN_OR_RETURN(const TensorId zero, ScalarLike(builder, x, 0));
  HPU_ASSIGN_OR_RETURN(const TensorId lower, ScalarLike(builder, x, low));
  HPU_ASSIGN_OR_RETURN(const TensorId upper, ScalarLike(builder, x, high));
  HPU_ASSIGN_OR_RETURN(const TensorId is_above_low, Compare(builder, "greater_equal_fwd", x, lower));
  HPU_ASSIGN_OR_RETURN(const TensorId is_below_high, Compare(builder, "less_fwd", x, upper));
  HPU_ASSIGN_OR_RETURN(const TensorId is_inside,
                       Elementwise(builder, "bitwise_and_fwd", {is_above_low, is_below_high}));
  HPU_ASSIGN_OR_RETURN(const TensorId inside, Where(builder, is_inside, x, zero));
  HPU_ASSIGN_OR_RETURN(TensorId value, Cast(builder, inside, type));
  const size_t rank = builder.sizes(x).size();
  const int64_t largest = bits == 64 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << digits) - 1;
  const int64_t smallest = is_unsigned ? 0 : -largest - 1;
  HPU_ASSIGN_OR_RETURN(const TensorId max, IntegerScalar(builder, type, largest, rank));
  HPU_ASSIGN_OR_RETURN(const TensorId min, IntegerScalar(builder, type, smallest, rank));
  HPU_ASSIGN_OR_RETURN(const TensorId is_high, Compare(builder, "greater_equal_fwd", x, upper));
  HPU_ASSIGN_OR_RETURN(const TensorId is_low, Compare(builder, "less_fwd", x, lower));
  HPU_ASSIGN_OR_RETURN(value, Where(builder, is_high, max, value));
  return Where(builder, is_low, min, value);
}

// The low bits of wider integers. Kernels may saturate, so the values come into range first.
absl::StatusOr<TensorId> NarrowInteger(PlanBuilder& builder, TensorId x, xla::PrimitiveType target) {
  HPU_ASSIGN_OR_RETURN(const synapse::synDataType type, SynapseType(target, builder.generation()));
  if (builder.type(x) == synapse::syn_type_int64) {
    // Little-endian: the low half comes first.
    const Sizes sizes = builder.sizes(x);
    const uint64_t count = ElementCount(sizes);
    HPU_ASSIGN_OR_RETURN(const TensorId flat, Reshape(builder, x, {count}));
    HPU_ASSIGN_OR_RETURN(const TensorId halves,
                         builder.Add("reinterpret_cast", {flat}, {synapse::syn_type_int32, {2 * count}}));
    HPU_ASSIGN_OR_RETURN(const TensorId pairs, Reshape(builder, halves, {2, count}));
    HPU_ASSIGN_OR_RETURN(const TensorId low, Slice(builder, pairs, {0, 0}, {1, count}, {1, 1}));
    HPU_ASSIGN_OR_RETURN(x, Reshape(builder, low, sizes));
  }
  const int bits = xla::primitive_util::BitWidth(target);
  const int width = 8 * static_cast<int>(BytesOf(builder.type(x)));
  if (bits >= width) return Cast(builder, x, type);
  if (xla::primitive_util::IsUnsignedIntegralType(target)) {
    HPU_ASSIGN_OR_RETURN(const TensorId mask,
                         IntegerScalar(builder, builder.type(x), (int64_t{1} << bits) - 1, builder.sizes(x).size()));
    HPU_ASSIGN_OR_RETURN(x, Elementwise(builder, "bitwise_and_fwd", {x, mask}));
  } else {
    HPU_ASSIGN_OR_RETURN(x, ShiftBy(builder, x, width - bits, /*left=*/true));
    HPU_ASSIGN_OR_RETURN(x, ShiftBy(builder, x, width - bits, /*left=*/false));
  }
  return Cast(builder, x, type);
}

absl::StatusOr<TensorId> Convert(PlanBuilder& builder, TensorId x, xla::PrimitiveType source,
                                 xla::PrimitiveType target) {
  HPU_ASSIGN_OR_RETURN(const synapse::synDataType type, SynapseType(target, builder.generation()));
  if (source == target) return x;
  if (target == xla::PRED) return IsNonZero(builder, x);
  const bool from_float = xla::primitive_util::IsFloatingPointType(source);
  const bool to_float = xla::primitive_util::IsFloatingPointType(target);
  if (from_float && to_float) return Cast(builder, x, type);
  if (from_float) return FloatToInteger(builder, x, target);
  const int source_bits = xla::primitive_util::BitWidth(source);
  const int target_bits = xla::primitive_util::BitWidth(target);
  const bool source_is_unsigned = xla::primitive_util::IsUnsignedIntegralType(source);
  if (source == xla::PRED) return Cast(builder, x, type);
  if (to_float) {
    if (source_is_unsigned && source_bits >= 32) {
      return absl::UnimplementedError("unsigned integers have no conversion to floats");
    }
    return Cast(builder, x, type);
  }
  if (target_bits < source_bits) return NarrowInteger(builder, x, target);
  if (target_bits == source_bits) {
    return type == builder.type(x) ? absl::StatusOr<TensorId>(x) : Reinterpret(builder, x, type);
  }
  if (source_is_unsigned && source_bits >= 32) {
    return absl::UnimplementedError("unsigned integers have no conversion to wider ones");
  }
  return Cast(builder, x, type);
}

absl::Status LowerConvert(Lowering& lowering, const HloInstruction& instruction) {
  HPU_ASSIGN_OR_RETURN(const TensorId x, lowering.Broadcastable(instruction.operand(0)));
  HPU_ASSIGN_OR_RETURN(const TensorId value,
                       Convert(lowering.builder(), x, instruction.operand(0)->shape().element_type(),
                               instruction.shape().element_type()));
  lowering.SetBroadcastable(instruction, value);
  return absl::OkStatus();
}

absl::Status LowerBitcastConvert(Lowering& lowering, const HloInstruction& instruction) {
  if (instruction.shape().rank() != instruction.operand(0)->shape().rank()) {
    return absl::UnimplementedError("bitcasts between types of different sizes have no nodes");
  }
  HPU_ASSIGN_OR_RETURN(const TensorId x, lowering.Broadcastable(instruction.operand(0)));
  HPU_ASSIGN_OR_RETURN(const TensorType type, lowering.TypeOf(instruction));
  HPU_ASSIGN_OR_RETURN(const TensorId value, Reinterpret(lowering.builder(), x, type.type));
  lowering.SetBroadcastable(instruction, value);
  return absl::OkStatus();
}

absl::Status LowerReducePrecision(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  const auto* reduce = xla::Cast<xla::HloReducePrecisionInstruction>(&instruction);
  HPU_ASSIGN_OR_RETURN(const TensorId x, lowering.Broadcastable(instruction.operand(0)));
  synapse::synDataType type = synapse::syn_type_na;
  if (reduce->exponent_bits() == 8 && reduce->mantissa_bits() == 7) type = synapse::syn_type_bf16;
  if (reduce->exponent_bits() == 5 && reduce->mantissa_bits() == 10) type = synapse::syn_type_fp16;
  if (type == synapse::syn_type_na) {
    return absl::UnimplementedError("reduce-precision has nodes for bfloat16 and float16 only");
  }
  HPU_ASSIGN_OR_RETURN(const TensorId narrow, Cast(builder, x, type));
  HPU_ASSIGN_OR_RETURN(const TensorId value, Cast(builder, narrow, builder.type(x)));
  lowering.SetBroadcastable(instruction, value);
  return absl::OkStatus();
}

}  // namespace

void AddConversions(LowerTable* table) {
  (*table)[HloOpcode::kConstant] = LowerConstant;
  (*table)[HloOpcode::kIota] = LowerIota;
  (*table)[HloOpcode::kConvert] = LowerConvert;
  (*table)[HloOpcode::kBitcastConvert] = LowerBitcastConvert;
  (*table)[HloOpcode::kReducePrecision] = LowerReducePrecision;
}

}  // namespace hpu::gaudi
