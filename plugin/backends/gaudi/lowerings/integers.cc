#include "plugin/backends/gaudi/lowerings/integers.h"

#include <algorithm>
#include <cstdint>

#include "plugin/backends/gaudi/lowerings/elementwise_operands.h"
#include "plugin/backends/gaudi/lowerings/lowerings.h"
#include "plugin/backends/gaudi/plan/integer_arithmetic.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/backends/gaudi/plan/wide_integers.h"
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/base/status_macros.h"
#include "xla/primitive_util.h"

namespace hpu::gaudi {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

struct Division {
  TensorId quotient = kNoTensor;
  TensorId remainder = kNoTensor;
};

IntegerArithmetic ArithmeticOf(Lowering& lowering, TensorId x) {
  PlanBuilder& builder = lowering.builder();
  return IntegerArithmetic(builder, builder.type(x), builder.sizes(x).size());
}

int BitsOf(const HloInstruction& instruction) {
  return xla::primitive_util::BitWidth(instruction.shape().element_type());
}

// Truncating division by div_mod_fwd. The divisor must not be 0, and the quotient must not overflow.
absl::StatusOr<Division> DivideByKernel(PlanBuilder& builder, TensorId a, TensorId b) {
  const synapse::synDataType type = builder.type(a);
  Sizes sizes = builder.sizes(a);
  for (size_t d = 0; d < sizes.size(); ++d) sizes[d] = std::max(sizes[d], builder.sizes(b)[d]);
  const Sizes flat = {ElementCount(sizes)};
  for (TensorId* operand : {&a, &b}) {
    HPU_ASSIGN_OR_RETURN(*operand, Broadcast(builder, *operand, sizes));
    HPU_ASSIGN_OR_RETURN(*operand, Reshape(builder, *operand, flat));
  }
  const synapse::ns_DivModKernel::Params params = {};
  HPU_ASSIGN_OR_RETURN(
      const std::vector<TensorId> results,
      builder.AddNode(GuidOf("div_mod_fwd", type), {a, b}, {{type, flat}, {type, flat}}, ParamsBytes(params)));
  Division division;
  HPU_ASSIGN_OR_RETURN(division.quotient, Reshape(builder, results[0], sizes));
  HPU_ASSIGN_OR_RETURN(division.remainder, Reshape(builder, results[1], sizes));
  return division;
}

// Division of unsigned numbers without the kernel.
absl::StatusOr<Division> DivideWithoutKernel(PlanBuilder& builder, TensorId a, TensorId b) {
  if (builder.type(a) == synapse::syn_type_int64) {
    HPU_ASSIGN_OR_RETURN(const WideQuotient wide, DivideWide(builder, a, b));
    return Division{wide.quotient, wide.remainder};
  }
  HPU_ASSIGN_OR_RETURN(const TensorId wide_a, WideFromWord(builder, a, /*is_unsigned=*/true));
  HPU_ASSIGN_OR_RETURN(const TensorId wide_b, WideFromWord(builder, b, /*is_unsigned=*/true));
  HPU_ASSIGN_OR_RETURN(const WideQuotient wide, DivideWide(builder, wide_a, wide_b));
  Division division;
  HPU_ASSIGN_OR_RETURN(division.quotient, LowWord(builder, wide.quotient));
  HPU_ASSIGN_OR_RETURN(division.remainder, LowWord(builder, wide.remainder));
  return division;
}

bool HasDivision(const PlanBuilder& builder, TensorId x) { return builder.Has("div_mod_fwd", builder.type(x)); }

// Divides half of the dividend, because the half is not negative as a signed number. The doubled quotient is at most 1
// below the result. For divisors above the largest signed number, the quotient is 0 or 1.
absl::StatusOr<Division> DivideUnsigned(IntegerArithmetic& words, TensorId a, TensorId b) {
  PlanBuilder& builder = words.builder();
  if (const auto value = words.ValueOf(b); value.has_value() && *value > 0 && (*value & (*value - 1)) == 0) {
    int bits = 0;
    while ((int64_t{1} << bits) != *value) ++bits;
    return Division{words.ShiftRightLogicalBy(a, bits), words.And(a, words.Constant(*value - 1))};
  }
  if (!HasDivision(builder, a)) return DivideWithoutKernel(builder, a, b);
  const TensorId is_large = words.IsNegative(b);
  const TensorId divisor = words.Select(is_large, words.Constant(1), b);
  const TensorId half = words.ShiftRightLogicalBy(a, 1);
  HPU_RETURN_IF_ERROR(words.status());
  HPU_ASSIGN_OR_RETURN(const Division halves, DivideByKernel(builder, half, divisor));
  const TensorId quotient = words.Select(is_large, words.Constant(0), words.ShiftLeftBy(halves.quotient, 1));
  const TensorId remainder = words.Subtract(a, words.Multiply(quotient, b));
  const TensorId fits = words.Not(words.LessUnsigned(remainder, b));
  return Division{words.Add(quotient, words.FromMask(fits)),
                  words.Select(fits, words.Subtract(remainder, b), remainder)};
}

// Divides magnitudes. This is also correct for the smallest number.
absl::StatusOr<Division> DivideSignedByMagnitudes(IntegerArithmetic& words, TensorId a, TensorId b) {
  const auto with_sign = [&](TensorId x, TensorId sign) {
    return words.Select(words.IsNegative(sign), words.Negate(x), x);
  };
  const TensorId dividend = with_sign(a, a);
  const TensorId divisor = with_sign(b, b);
  HPU_RETURN_IF_ERROR(words.status());
  HPU_ASSIGN_OR_RETURN(const Division division, DivideUnsigned(words, dividend, divisor));
  return Division{with_sign(division.quotient, words.Xor(a, b)), with_sign(division.remainder, a)};
}

absl::StatusOr<Division> DivideSigned(IntegerArithmetic& words, TensorId a, TensorId b) {
  if (!HasDivision(words.builder(), a)) return DivideSignedByMagnitudes(words, a, b);
  // HLO defines the overflow: the smallest number divided by -1 is the smallest number.
  const TensorId overflows = words.Both(words.Equal(a, words.Sign()), words.Equal(b, words.Constant(-1)));
  const TensorId divisor = words.Select(overflows, words.Constant(1), b);
  HPU_RETURN_IF_ERROR(words.status());
  return DivideByKernel(words.builder(), a, divisor);
}

// HLO defines x / 0 = -1 (the largest unsigned number) and x % 0 = x.
absl::Status LowerIntegerDivision(Lowering& lowering, const HloInstruction& instruction, bool is_remainder) {
  HPU_ASSIGN_OR_RETURN(const std::vector<TensorId> operands, WordOperands(lowering, instruction));
  const TensorId a = operands[0];
  IntegerArithmetic words = ArithmeticOf(lowering, a);
  const TensorId is_zero = words.Equal(operands[1], words.Constant(0));
  const TensorId b = words.Select(is_zero, words.Constant(1), operands[1]);
  HPU_RETURN_IF_ERROR(words.status());
  HPU_ASSIGN_OR_RETURN(const Division division,
                       HasHiddenSign(instruction) ? DivideUnsigned(words, a, b) : DivideSigned(words, a, b));
  const TensorId value = is_remainder ? words.Select(is_zero, a, division.remainder)
                                      : words.Select(is_zero, words.Constant(-1), division.quotient);
  return SetWordResult(lowering, instruction, words.Result(value));
}

// Extends a number of `bits` bits to 32 bits, with zeros or with copies of the sign.
TensorId Extend(IntegerArithmetic& words, TensorId x, int bits, bool with_sign) {
  if (bits >= 32) return x;
  if (!with_sign) return words.And(x, words.Constant((int64_t{1} << bits) - 1));
  return words.ShiftRightArithmeticBy(words.ShiftLeftBy(x, 32 - bits), 32 - bits);
}

// HLO reads counts as unsigned; counts of at least the width shift out all bits. Kernels need counts below the width.
absl::Status LowerShift(Lowering& lowering, const HloInstruction& instruction) {
  HPU_ASSIGN_OR_RETURN(const std::vector<TensorId> operands, WordOperands(lowering, instruction));
  IntegerArithmetic words = ArithmeticOf(lowering, operands[0]);
  const int bits = BitsOf(instruction);
  const TensorId x = operands[0];
  const TensorId zero = words.Constant(0);
  const TensorId is_inside = words.LessUnsigned(operands[1], words.Constant(bits));
  const TensorId count = words.Select(is_inside, operands[1], words.Constant(bits - 1));
  TensorId value = kNoTensor;
  switch (instruction.opcode()) {
    case HloOpcode::kShiftLeft:
      value = words.Select(is_inside, words.ShiftLeft(x, count), zero);
      break;
    case HloOpcode::kShiftRightLogical:
      value =
          words.Select(is_inside, words.ShiftRightLogical(Extend(words, x, bits, /*with_sign=*/false), count), zero);
      break;
    default:
      value =
          words.ShiftRightArithmetic(IsUnsigned(instruction) ? Extend(words, x, bits, /*with_sign=*/true) : x, count);
      break;
  }
  return SetWordResult(lowering, instruction, words.Result(value));
}

absl::Status LowerCount(Lowering& lowering, const HloInstruction& instruction) {
  HPU_ASSIGN_OR_RETURN(const std::vector<TensorId> operands, WordOperands(lowering, instruction));
  PlanBuilder& builder = lowering.builder();
  const bool counts_ones = instruction.opcode() == HloOpcode::kPopulationCount;
  const int bits = BitsOf(instruction);
  if (bits == 64) {
    return SetWordResult(
        lowering, instruction,
        counts_ones ? WideCountOnes(builder, operands[0]) : WideCountLeadingZeros(builder, operands[0]));
  }
  IntegerArithmetic words = ArithmeticOf(lowering, operands[0]);
  const TensorId x = Extend(words, operands[0], bits, /*with_sign=*/false);
  const TensorId value =
      counts_ones ? words.CountOnes(x) : words.Subtract(words.CountLeadingZeros(x), words.Constant(32 - bits));
  return SetWordResult(lowering, instruction, words.Result(value));
}

// The power with an exponent that is not negative, by squaring.
TensorId PowerBySquaring(IntegerArithmetic& words, TensorId base, TensorId exponent, int exponent_bits) {
  TensorId value = words.Constant(1);
  for (int bit = 0; bit < exponent_bits; ++bit) {
    const TensorId rest = words.ShiftRightLogicalBy(exponent, bit);
    if (words.IsConstant(rest, 0)) break;
    if (bit > 0) base = words.Multiply(base, base);
    const TensorId is_even = words.Equal(words.And(rest, words.Constant(1)), words.Constant(0));
    value = words.Select(is_even, value, words.Multiply(value, base));
  }
  return value;
}

}  // namespace

absl::Status LowerIntegerDivide(Lowering& lowering, const HloInstruction& instruction) {
  return LowerIntegerDivision(lowering, instruction, /*is_remainder=*/false);
}

absl::Status LowerIntegerRemainder(Lowering& lowering, const HloInstruction& instruction) {
  return LowerIntegerDivision(lowering, instruction, /*is_remainder=*/true);
}

absl::Status LowerIntegerPower(Lowering& lowering, const HloInstruction& instruction) {
  HPU_ASSIGN_OR_RETURN(const std::vector<TensorId> operands, WordOperands(lowering, instruction));
  const TensorId base = operands[0];
  const TensorId exponent = operands[1];
  IntegerArithmetic words = ArithmeticOf(lowering, base);
  if (!words.ValueOf(exponent).has_value() && words.bits() == 64 &&
      NeedsHalves(lowering.builder(), "mult_fwd", operands)) {
    return absl::UnimplementedError(
        "Gaudi has no kernel for powers of 64-bit integers with a variable exponent; use int32 or a constant exponent");
  }
  const bool is_signed = !IsUnsigned(instruction);
  const TensorId power = PowerBySquaring(words, base, exponent, BitsOf(instruction) - (is_signed ? 1 : 0));
  if (!is_signed) return SetWordResult(lowering, instruction, words.Result(power));
  const TensorId one = words.Constant(1);
  const TensorId zero = words.Constant(0);
  const TensorId is_odd = words.Equal(words.And(exponent, one), one);
  const TensorId alternating = words.Select(is_odd, words.Constant(-1), one);
  const TensorId inverse =
      words.Select(words.Equal(base, words.Constant(-1)), alternating, words.Select(words.Equal(base, one), one, zero));
  return SetWordResult(lowering, instruction, words.Result(words.Select(words.IsNegative(exponent), inverse, power)));
}

void AddIntegers(LowerTable* table) {
  for (const HloOpcode opcode :
       {HloOpcode::kShiftLeft, HloOpcode::kShiftRightArithmetic, HloOpcode::kShiftRightLogical}) {
    (*table)[opcode] = LowerShift;
  }
  (*table)[HloOpcode::kPopulationCount] = LowerCount;
  (*table)[HloOpcode::kClz] = LowerCount;
}

}  // namespace hpu::gaudi
