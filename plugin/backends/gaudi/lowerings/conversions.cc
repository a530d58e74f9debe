// Lowerings of constants, conversions and sequences (iota).
#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "plugin/backends/gaudi/lowerings/lowerings.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/integer_arithmetic.h"
#include "plugin/backends/gaudi/plan/narrow_integers.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/backends/gaudi/plan/wide_integers.h"
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
  if (!instruction.shape().IsArray()) return absl::UnimplementedError("Gaudi does not support constant tuples");
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

// Whether an element differs from zero.
absl::StatusOr<TensorId> IsNonZero(PlanBuilder& builder, TensorId x) {
  HPU_ASSIGN_OR_RETURN(const TensorId zero, ScalarLike(builder, x, 0));
  HPU_ASSIGN_OR_RETURN(const TensorId is_zero, Compare(builder, "equal_fwd", x, zero));
  return Not(builder, is_zero);
}

// Range of an integer type. As floats: the smallest number, and the largest number + 1.
struct IntegerRange {
  explicit IntegerRange(xla::PrimitiveType type) {
    const int bits = xla::primitive_util::BitWidth(type);
    const bool is_unsigned = xla::primitive_util::IsUnsignedIntegralType(type);
    const int digits = is_unsigned ? bits : bits - 1;
    above = std::ldexp(1.0, digits);
    low = is_unsigned ? 0 : -above;
    smallest = is_unsigned ? 0 : std::numeric_limits<int64_t>::min() >> (64 - bits);
    // The largest unsigned number of 64 bits has the bits of -1.
    largest = digits == 64 ? -1 : static_cast<int64_t>((uint64_t{1} << digits) - 1);
  }

  double low, above;
  int64_t smallest, largest;
};

// Truncates a float32 in the range of the type. The result is i64, or i32 with the low bits of the number.
absl::StatusOr<TensorId> Truncate(PlanBuilder& builder, TensorId x, xla::PrimitiveType target) {
  if (xla::primitive_util::BitWidth(target) == 64) return WideFromFloat(builder, x, target == xla::U64);
  if (target != xla::U32) return Cast(builder, x, synapse::syn_type_int32);
  IntegerArithmetic words(builder, synapse::syn_type_int32, builder.sizes(x).size());
  return words.Result(words.UnsignedFromFloat(x));
}

// HLO converts NaN to 0, and floats out of range to the nearest integer. Kernels need floats in range.
absl::StatusOr<TensorId> FloatToInteger(PlanBuilder& builder, TensorId x, xla::PrimitiveType target) {
  const IntegerRange range(target);
  HPU_ASSIGN_OR_RETURN(x, Cast(builder, x, synapse::syn_type_float));
  HPU_ASSIGN_OR_RETURN(const TensorId zero, ScalarLike(builder, x, 0));
  HPU_ASSIGN_OR_RETURN(const TensorId lower, ScalarLike(builder, x, range.low));
  HPU_ASSIGN_OR_RETURN(const TensorId upper, ScalarLike(builder, x, range.above));
  HPU_ASSIGN_OR_RETURN(const TensorId is_above_low, Compare(builder, "greater_equal_fwd", x, lower));
  HPU_ASSIGN_OR_RETURN(const TensorId is_below_high, Compare(builder, "less_fwd", x, upper));
  HPU_ASSIGN_OR_RETURN(const TensorId is_inside,
                       Elementwise(builder, "bitwise_and_fwd", {is_above_low, is_below_high}));
  HPU_ASSIGN_OR_RETURN(const TensorId inside, Where(builder, is_inside, x, zero));
  HPU_ASSIGN_OR_RETURN(TensorId value, Truncate(builder, inside, target));
  const size_t rank = builder.sizes(x).size();
  HPU_ASSIGN_OR_RETURN(const TensorId max, IntegerScalar(builder, builder.type(value), range.largest, rank));
  HPU_ASSIGN_OR_RETURN(const TensorId min, IntegerScalar(builder, builder.type(value), range.smallest, rank));
  HPU_ASSIGN_OR_RETURN(const TensorId is_high, Compare(builder, "greater_equal_fwd", x, upper));
  HPU_ASSIGN_OR_RETURN(const TensorId is_low, Compare(builder, "less_fwd", x, lower));
  HPU_ASSIGN_OR_RETURN(value, Where(builder, is_high, max, value));
  HPU_ASSIGN_OR_RETURN(value, Where(builder, is_low, min, value));
  return xla::primitive_util::BitWidth(target) == 64 ? value : FromWord(builder, value, target);
}

// Rounds to float32 first, as TensorFlow does.
absl::StatusOr<TensorId> IntegerToFloat(PlanBuilder& builder, TensorId x, xla::PrimitiveType source,
                                        synapse::synDataType type) {
  TensorId number = kNoTensor;
  if (source == xla::U64) {
    HPU_ASSIGN_OR_RETURN(number, WideToFloat(builder, x, /*is_unsigned=*/true));
  } else if (source == xla::S64) {
    HPU_ASSIGN_OR_RETURN(number, Cast(builder, x, synapse::syn_type_float));
  } else {
    HPU_ASSIGN_OR_RETURN(const TensorId word, ToWord(builder, x, source));
    IntegerArithmetic words(builder, synapse::syn_type_int32, builder.sizes(word).size());
    number = source == xla::U32 ? words.UnsignedToFloat(word) : words.SignedToFloat(word);
    HPU_RETURN_IF_ERROR(words.status());
  }
  return Cast(builder, number, type);
}

absl::StatusOr<TensorId> IntegerToInteger(PlanBuilder& builder, TensorId x, xla::PrimitiveType source,
                                          xla::PrimitiveType target, synapse::synDataType type) {
  const int source_bits = xla::primitive_util::BitWidth(source);
  const int target_bits = xla::primitive_util::BitWidth(target);
  if (source != xla::PRED && source_bits == target_bits) return Reinterpret(builder, x, type);
  TensorId word = kNoTensor;
  if (source_bits == 64) {
    HPU_ASSIGN_OR_RETURN(word, LowWord(builder, x));
  } else {
    HPU_ASSIGN_OR_RETURN(word, ToWord(builder, x, source));
  }
  if (target_bits < 64) return FromWord(builder, word, target);
  return source == xla::U32 ? WideFromWord(builder, word, /*is_unsigned=*/true) : Cast(builder, word, type);
}

absl::StatusOr<TensorId> Convert(PlanBuilder& builder, TensorId x, xla::PrimitiveType source,
                                 xla::PrimitiveType target) {
  HPU_ASSIGN_OR_RETURN(const synapse::synDataType type, SynapseType(target, builder.generation()));
  if (source == target) return x;
  if (target == xla::PRED && source == xla::U16) {
    HPU_ASSIGN_OR_RETURN(x, Reinterpret(builder, x, synapse::syn_type_int16));
  }
  if (target == xla::PRED) return IsNonZero(builder, x);
  const bool from_float = xla::primitive_util::IsFloatingPointType(source);
  const bool to_float = xla::primitive_util::IsFloatingPointType(target);
  if (from_float) return to_float ? Cast(builder, x, type) : FloatToInteger(builder, x, target);
  return to_float ? IntegerToFloat(builder, x, source, type) : IntegerToInteger(builder, x, source, target, type);
}

absl::Status LowerIota(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(const TensorType type, lowering.TypeOf(instruction));
  const int64_t dimension = xla::Cast<xla::HloIotaInstruction>(&instruction)->iota_dimension();
  const size_t axis = type.sizes.size() - 1 - (instruction.shape().dimensions_size() == 0 ? 0 : dimension);
  const uint64_t count = type.sizes[axis];
  HPU_ASSIGN_OR_RETURN(TensorId range, Range(builder, count));
  HPU_ASSIGN_OR_RETURN(range, Convert(builder, range, xla::S32, instruction.shape().element_type()));
  Sizes sizes(type.sizes.size(), 1);
  sizes[axis] = count;
  HPU_ASSIGN_OR_RETURN(range, Reshape(builder, range, sizes));
  lowering.SetBroadcastable(instruction, range);
  return absl::OkStatus();
}

absl::Status LowerConvert(Lowering& lowering, const HloInstruction& instruction) {
  HPU_ASSIGN_OR_RETURN(const TensorId x, lowering.Broadcastable(instruction.operand(0)));
  HPU_ASSIGN_OR_RETURN(const TensorId value,
                       Convert(lowering.builder(), x, instruction.operand(0)->shape().element_type(),
                               instruction.shape().element_type()));
  lowering.SetBroadcastable(instruction, value);
  return absl::OkStatus();
}

// The same bytes. Between types of different sizes, HLO's last dimension holds the parts of an element.
absl::Status LowerBitcastConvert(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  HPU_ASSIGN_OR_RETURN(const TensorType type, lowering.TypeOf(instruction));
  HPU_ASSIGN_OR_RETURN(TensorId x, lowering.Broadcastable(instruction.operand(0)));
  if (BytesOf(type.type) == BytesOf(builder.type(x))) {
    HPU_ASSIGN_OR_RETURN(x, Reinterpret(builder, x, type.type));
    lowering.SetBroadcastable(instruction, x);
    return absl::OkStatus();
  }
  HPU_ASSIGN_OR_RETURN(x, lowering.Operand(instruction, 0));
  HPU_ASSIGN_OR_RETURN(x, Reshape(builder, x, {ElementCount(builder.sizes(x))}));
  HPU_ASSIGN_OR_RETURN(x, builder.Add("reinterpret_cast", {x}, {type.type, {ElementCount(type.sizes)}}));
  HPU_ASSIGN_OR_RETURN(x, Reshape(builder, x, type.sizes));
  lowering.Set(instruction, x);
  return absl::OkStatus();
}

// Rounds the bits of a float32 to `bits` bits of mantissa: to nearest, ties to even. A carry increments the exponent.
TensorId RoundMantissa(IntegerArithmetic& words, TensorId x, int bits) {
  const int lost = 23 - bits;
  const TensorId last = words.And(words.ShiftRightArithmeticBy(x, lost), words.Constant(1));
  const TensorId rounded = words.Add(x, words.Add(last, words.Constant((int64_t{1} << (lost - 1)) - 1)));
  return words.And(rounded, words.Constant(-(int64_t{1} << lost)));
}

// Turns float32 bits whose exponent needs more than `bits` bits into infinity or 0 of the same sign.
TensorId LimitExponent(IntegerArithmetic& words, TensorId x, int bits) {
  const int64_t bias = (int64_t{1} << (bits - 1)) - 1;
  const TensorId sign = words.And(x, words.Sign());
  const TensorId exponent = words.And(x, words.Constant(0x7f800000));
  const TensorId overflows = words.LessSigned(words.Constant((127 + bias) << 23), exponent);
  const TensorId underflows = words.Not(words.LessSigned(words.Constant((127 - bias) << 23), exponent));
  const TensorId infinity = words.Or(sign, words.Constant(0x7f800000));
  return words.Select(underflows, sign, words.Select(overflows, infinity, x));
}

// XLA's algorithm on float32 bits, for operands converted to float32. NaN stays NaN.
absl::Status LowerReducePrecision(Lowering& lowering, const HloInstruction& instruction) {
  PlanBuilder& builder = lowering.builder();
  const auto* reduce = xla::Cast<xla::HloReducePrecisionInstruction>(&instruction);
  HPU_ASSIGN_OR_RETURN(const TensorId operand, lowering.Broadcastable(instruction.operand(0)));
  HPU_ASSIGN_OR_RETURN(const TensorId x, Cast(builder, operand, synapse::syn_type_float));
  IntegerArithmetic words(builder, synapse::syn_type_int32, builder.sizes(x).size());
  TensorId bits = words.BitsOf(x);
  if (reduce->mantissa_bits() < 23) bits = RoundMantissa(words, bits, reduce->mantissa_bits());
  if (reduce->exponent_bits() < 8) bits = LimitExponent(words, bits, reduce->exponent_bits());
  HPU_ASSIGN_OR_RETURN(const TensorId reduced, words.Result(words.FloatOf(bits)));
  HPU_ASSIGN_OR_RETURN(const TensorId is_number, Compare(builder, "equal_fwd", x, x));
  HPU_ASSIGN_OR_RETURN(const TensorId number, Where(builder, is_number, reduced, x));
  HPU_ASSIGN_OR_RETURN(const TensorId value, Cast(builder, number, builder.type(operand)));
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
