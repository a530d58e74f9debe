#include "plugin/backends/gaudi/plan/wide_integers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/base/status_macros.h"

namespace hpu::gaudi {
namespace {

constexpr synapse::synDataType kWide = synapse::syn_type_int64;
constexpr synapse::synDataType kWord = synapse::syn_type_int32;

bool IsConstantTensor(const PlanBuilder& builder, TensorId x) {
  return builder.tensor(builder.Storage(x)).role == TensorRole::kConstant;
}

// Arithmetic of halves. IntegerArithmetic::status() is the first failure.

Halves Add(IntegerArithmetic& words, const Halves& a, const Halves& b) {
  const TensorId low = words.Add(a.low, b.low);
  const TensorId high = words.Add(a.high, b.high);
  // An unsigned sum that overflows is less than an operand.
  const TensorId part = words.ValueOf(b.low).has_value() ? b.low : a.low;
  if (words.IsConstant(part, 0)) return {low, high};
  return {low, words.Add(high, words.FromMask(words.LessUnsigned(low, part)))};
}

Halves Subtract(IntegerArithmetic& words, const Halves& a, const Halves& b) {
  const TensorId borrow =
      words.IsConstant(b.low, 0) ? words.Constant(0) : words.FromMask(words.LessUnsigned(a.low, b.low));
  return {words.Subtract(a.low, b.low), words.Subtract(words.Subtract(a.high, b.high), borrow)};
}

Halves Negate(IntegerArithmetic& words, const Halves& x) {
  // The complement plus 1. The addition carries only if the low half is 0.
  const TensorId carry = words.FromMask(words.Equal(x.low, words.Constant(0)));
  return {words.Negate(x.low), words.Add(words.Complement(x.high), carry)};
}

Halves Multiply(IntegerArithmetic& words, const Halves& a, const Halves& b) {
  const TensorId cross = words.Add(words.Multiply(a.low, b.high), words.Multiply(a.high, b.low));
  return {words.Multiply(a.low, b.low), words.Add(words.MultiplyHigh(a.low, b.low), cross)};
}

TensorId Equal(IntegerArithmetic& words, const Halves& a, const Halves& b) {
  return words.Both(words.Equal(a.low, b.low), words.Equal(a.high, b.high));
}

TensorId Less(IntegerArithmetic& words, const Halves& a, const Halves& b, bool is_unsigned) {
  const TensorId high = is_unsigned ? words.LessUnsigned(a.high, b.high) : words.LessSigned(a.high, b.high);
  const TensorId low = words.LessUnsigned(a.low, b.low);
  return words.Either(high, words.Both(words.Equal(a.high, b.high), low));
}

Halves SelectWide(IntegerArithmetic& words, TensorId mask, const Halves& a, const Halves& b) {
  return {words.Select(mask, a.low, b.low), words.Select(mask, a.high, b.high)};
}

Halves ShiftLeftByConstant(IntegerArithmetic& words, const Halves& x, int bits) {
  if (bits == 0) return x;
  if (bits >= 32) return {words.Constant(0), words.ShiftLeftBy(x.low, bits - 32)};
  return {words.ShiftLeftBy(x.low, bits),
          words.Or(words.ShiftLeftBy(x.high, bits), words.ShiftRightLogicalBy(x.low, 32 - bits))};
}

Halves ShiftRightByConstant(IntegerArithmetic& words, const Halves& x, int bits) {
  if (bits == 0) return x;
  if (bits >= 32) return {words.ShiftRightArithmeticBy(x.high, bits - 32), words.ShiftRightArithmeticBy(x.high, 31)};
  return {words.Or(words.ShiftRightLogicalBy(x.low, bits), words.ShiftLeftBy(x.high, 32 - bits)),
          words.ShiftRightArithmeticBy(x.high, bits)};
}

// Shift by 0 to 63 bits.
Halves Shift(IntegerArithmetic& words, const Halves& x, TensorId bits, bool left) {
  if (const auto constant = words.ValueOf(bits); constant.has_value()) {
    return left ? ShiftLeftByConstant(words, x, static_cast<int>(*constant))
                : ShiftRightByConstant(words, x, static_cast<int>(*constant));
  }
  const TensorId is_far = words.LessSigned(words.Constant(31), bits);
  const TensorId near = words.And(bits, words.Constant(31));
  const TensorId rest = words.Subtract(words.Constant(31), near);
  if (left) {
    const TensorId low = words.ShiftLeft(x.low, near);
    // Two shifts: the count is 32 where `near` is 0.
    const TensorId moved = words.ShiftRightLogical(words.ShiftRightLogicalBy(x.low, 1), rest);
    const TensorId high = words.Or(words.ShiftLeft(x.high, near), moved);
    return {words.Select(is_far, words.Constant(0), low), words.Select(is_far, low, high)};
  }
  const TensorId high = words.ShiftRightArithmetic(x.high, near);
  const TensorId moved = words.ShiftLeft(words.ShiftLeftBy(x.high, 1), rest);
  const TensorId low = words.Or(words.ShiftRightLogical(x.low, near), moved);
  return {words.Select(is_far, high, low), words.Select(is_far, words.ShiftRightArithmeticBy(x.high, 31), high)};
}

absl::StatusOr<TensorId> JoinResult(IntegerArithmetic& words, const Halves& halves) {
  HPU_RETURN_IF_ERROR(words.status());
  return Join(words.builder(), halves);
}

// Splits the i64 operands. Other operands, such as masks, become the low half.
absl::StatusOr<std::vector<Halves>> SplitAll(PlanBuilder& builder, const std::vector<TensorId>& operands) {
  std::vector<Halves> halves;
  for (const TensorId operand : operands) {
    if (builder.type(operand) != kWide) {
      halves.push_back({operand, kNoTensor});
      continue;
    }
    HPU_ASSIGN_OR_RETURN(const Halves half, Split(builder, operand));
    halves.push_back(half);
  }
  return halves;
}

Halves Not(IntegerArithmetic& words, const Halves& x) { return {words.Complement(x.low), words.Complement(x.high)}; }

// Result of an integer kernel; nullopt for other kernels.
std::optional<Halves> Compute(IntegerArithmetic& words, absl::string_view stem, const std::vector<Halves>& x,
                              bool shifts_left) {
  if (stem == "add_fwd") return Add(words, x[0], x[1]);
  if (stem == "sub_fwd") return Subtract(words, x[0], x[1]);
  if (stem == "mult_fwd") return Multiply(words, x[0], x[1]);
  if (stem == "neg_fwd") return Negate(words, x[0]);
  if (stem == "bitwise_and_fwd") return Halves{words.And(x[0].low, x[1].low), words.And(x[0].high, x[1].high)};
  if (stem == "bitwise_or_fwd") return Halves{words.Or(x[0].low, x[1].low), words.Or(x[0].high, x[1].high)};
  if (stem == "bitwise_xor_fwd") return Halves{words.Xor(x[0].low, x[1].low), words.Xor(x[0].high, x[1].high)};
  if (stem == "bitwise_not_fwd") return Not(words, x[0]);
  if (stem == "where_fwd") return SelectWide(words, x[0].low, x[1], x[2]);
  if (stem == "max_fwd") return SelectWide(words, Less(words, x[0], x[1], /*is_unsigned=*/false), x[1], x[0]);
  if (stem == "min_fwd") return SelectWide(words, Less(words, x[0], x[1], /*is_unsigned=*/false), x[0], x[1]);
  if (stem == "abs_fwd") return SelectWide(words, words.IsNegative(x[0].high), Negate(words, x[0]), x[0]);
  if (stem == "bitshift_fwd") return Shift(words, x[0], x[1].low, shifts_left);
  if (stem == "sign_fwd") {
    const TensorId sign = words.ShiftRightArithmeticBy(x[0].high, 31);
    const TensorId is_zero = Equal(words, x[0], {words.Constant(0), words.Constant(0)});
    return Halves{words.Or(sign, words.FromMask(words.Not(is_zero))), sign};
  }
  return std::nullopt;
}

// A float32 near an unsigned number, with a relative error of at most 2^-22.
TensorId RoughFloat(IntegerArithmetic& words, const Halves& x) {
  return words.FloatNode("add_fwd", {words.FloatNode("mult_fwd", {words.UnsignedToFloat(x.high), words.Float(0x1p32)}),
                                     words.UnsignedToFloat(x.low)});
}

// The integral part of a float32 of 0 to 2^64 - 1.
Halves FromUnsignedFloat(IntegerArithmetic& words, TensorId x) {
  const TensorId high = words.FloatNode("floor_fwd", {words.FloatNode("mult_fwd", {x, words.Float(0x1p-32)})});
  const TensorId low = words.FloatNode("sub_fwd", {x, words.FloatNode("mult_fwd", {high, words.Float(0x1p32)})});
  return {words.UnsignedFromFloat(low), words.UnsignedFromFloat(high)};
}

// Sums words over the dimension `axis`, which keeps size 1. Sums must be below 2^31.
absl::StatusOr<TensorId> SumWords(PlanBuilder& builder, TensorId x, size_t axis) {
  const Sizes sizes = builder.sizes(x);
  Sizes merged = {1, sizes[axis], 1};
  Sizes result = sizes;
  result[axis] = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (d != axis) merged[d < axis ? 0 : 2] *= sizes[d];
  }
  synapse::ns_Reduction::Params params = {};
  params.reductionDimension = 1;
  HPU_ASSIGN_OR_RETURN(const TensorId flat, Reshape(builder, x, merged));
  HPU_ASSIGN_OR_RETURN(const TensorId sum, builder.AddTyped("reduce_sum_fwd", kWord, {flat},
                                                            {kWord, {merged[0], 1, merged[2]}}, ParamsBytes(params)));
  return Reshape(builder, sum, result);
}

// Sums of `bits` bits of each word, from bit `start` on.
TensorId SumDigits(IntegerArithmetic& words, TensorId x, int start, int bits, const std::vector<bool>& is_reduced) {
  TensorId sum = words.And(words.ShiftRightArithmeticBy(x, start), words.Constant((int64_t{1} << bits) - 1));
  for (size_t d = 0; d < is_reduced.size(); ++d) {
    if (is_reduced[d] && words.status().ok()) sum = words.Take(SumWords(words.builder(), sum, d));
  }
  return sum;
}

}  // namespace

bool NeedsWideCast(const PlanBuilder& builder, TensorId x, synapse::synDataType type) {
  if (builder.type(x) != kWide && type != kWide) return false;
  const bool has_kernel =
      (builder.type(x) == kWord && type == kWide) || (builder.type(x) == kWide && type == synapse::syn_type_float);
  return !has_kernel || !builder.Has("add_fwd", kWide) || IsConstantTensor(builder, x) ||
         builder.FindHalves(x).has_value();
}

bool NeedsHalves(const PlanBuilder& builder, absl::string_view stem, const std::vector<TensorId>& operands) {
  if (builder.type(operands.back()) != kWide) return false;
  if (!builder.Has(stem, kWide)) return true;
  bool has_halves = false;
  for (const TensorId operand : operands) {
    if (builder.type(operand) != kWide || IsConstantTensor(builder, operand)) continue;
    if (!builder.FindHalves(operand).has_value()) return false;
    has_halves = true;
  }
  return has_halves;
}

absl::StatusOr<Halves> Split(PlanBuilder& builder, TensorId wide) {
  if (const std::optional<Halves> halves = builder.FindHalves(wide); halves.has_value()) return *halves;
  const Sizes sizes = builder.sizes(wide);
  if (IsConstantTensor(builder, wide)) {
    const std::string data = builder.tensor(builder.Storage(wide)).data;
    std::string low, high;
    for (size_t i = 0; i < data.size(); i += 8) {
      low += data.substr(i, 4);
      high += data.substr(i + 4, 4);
    }
    HPU_ASSIGN_OR_RETURN(const TensorId low_half, builder.AddConstant({kWord, sizes}, std::move(low)));
    HPU_ASSIGN_OR_RETURN(const TensorId high_half, builder.AddConstant({kWord, sizes}, std::move(high)));
    return Halves{low_half, high_half};
  }
  if (builder.HasTooManyDimensions(sizes)) {
    HPU_ASSIGN_OR_RETURN(const TensorId flat, Reshape(builder, wide, {ElementCount(sizes)}));
    HPU_ASSIGN_OR_RETURN(Halves halves, Split(builder, flat));
    HPU_ASSIGN_OR_RETURN(halves.low, Reshape(builder, halves.low, sizes));
    HPU_ASSIGN_OR_RETURN(halves.high, Reshape(builder, halves.high, sizes));
    return halves;
  }
  Sizes doubled = sizes;
  doubled[0] *= 2;
  HPU_ASSIGN_OR_RETURN(const TensorId words, builder.Add("reinterpret_cast", {wide}, {kWord, doubled}));
  std::vector<uint64_t> starts(sizes.size(), 0);
  std::vector<uint64_t> steps(sizes.size(), 1);
  steps[0] = 2;
  HPU_ASSIGN_OR_RETURN(const TensorId low, Slice(builder, words, starts, doubled, steps));
  starts[0] = 1;
  HPU_ASSIGN_OR_RETURN(const TensorId high, Slice(builder, words, starts, doubled, steps));
  return Halves{low, high};
}

absl::StatusOr<TensorId> Join(PlanBuilder& builder, const Halves& halves) {
  Sizes sizes = builder.sizes(halves.low);
  for (size_t d = 0; d < sizes.size(); ++d) sizes[d] = std::max(sizes[d], builder.sizes(halves.high)[d]);
  const uint64_t count = ElementCount(sizes);
  const IntegerArithmetic words(builder, kWord, sizes.size());
  if (const auto low = words.ValueOf(halves.low), high = words.ValueOf(halves.high);
      low.has_value() && high.has_value()) {
    return IntegerScalar(builder, kWide,
                         static_cast<int64_t>(static_cast<uint64_t>(*high) << 32 | static_cast<uint32_t>(*low)),
                         sizes.size());
  }
  std::vector<TensorId> parts;
  for (const TensorId half : {halves.low, halves.high}) {
    HPU_ASSIGN_OR_RETURN(const TensorId full, Broadcast(builder, half, sizes));
    HPU_ASSIGN_OR_RETURN(const TensorId column, Reshape(builder, full, {1, count}));
    parts.push_back(column);
  }
  HPU_ASSIGN_OR_RETURN(const TensorId pairs, Concatenate(builder, std::move(parts), 0));
  HPU_ASSIGN_OR_RETURN(const TensorId flat, Reshape(builder, pairs, {2 * count}));
  HPU_ASSIGN_OR_RETURN(TensorId wide, builder.Add("reinterpret_cast", {flat}, {kWide, {count}}));
  // Does not call Reshape: if an equal value already added this node, Reshape would move the halves of that value.
  if (builder.sizes(wide) != sizes) {
    if (builder.HasTooManyDimensions(sizes)) {
      wide = builder.AddView(wide, sizes);
    } else {
      HPU_ASSIGN_OR_RETURN(wide, builder.Add("reshape", {wide}, {kWide, sizes}));
    }
  }
  builder.SetHalves(wide, halves);
  return wide;
}

absl::StatusOr<TensorId> ForEachHalf(PlanBuilder& builder, TensorId wide,
                                     absl::FunctionRef<absl::StatusOr<TensorId>(TensorId)> function) {
  HPU_ASSIGN_OR_RETURN(Halves halves, Split(builder, wide));
  const Sizes sizes = builder.sizes(wide);
  for (TensorId* half : {&halves.low, &halves.high}) {
    HPU_ASSIGN_OR_RETURN(*half, Broadcast(builder, *half, sizes));
    HPU_ASSIGN_OR_RETURN(*half, function(*half));
  }
  return Join(builder, halves);
}

absl::StatusOr<TensorId> WideElementwise(PlanBuilder& builder, absl::string_view stem,
                                         const std::vector<TensorId>& operands, const std::string& params) {
  HPU_ASSIGN_OR_RETURN(const std::vector<Halves> halves, SplitAll(builder, operands));
  synapse::ns_BitShiftKernel::Params shift = {};
  if (params.size() == sizeof(shift)) std::memcpy(&shift, params.data(), sizeof(shift));
  IntegerArithmetic words(builder, kWord, builder.sizes(operands.back()).size());
  const std::optional<Halves> result =
      Compute(words, stem, halves, shift.direction == synapse::ns_BitShiftKernel::BIT_SHIFT_LEFT);
  if (!result.has_value()) {
    return absl::UnimplementedError(absl::StrCat("Gaudi has no kernel ", stem, " for 64-bit integers; use int32"));
  }
  return JoinResult(words, *result);
}

absl::StatusOr<TensorId> WideCompare(PlanBuilder& builder, absl::string_view stem, TensorId a, TensorId b) {
  HPU_ASSIGN_OR_RETURN(const Halves left, Split(builder, a));
  HPU_ASSIGN_OR_RETURN(const Halves right, Split(builder, b));
  IntegerArithmetic words(builder, kWord, builder.sizes(a).size());
  const auto less = [&](const Halves& x, const Halves& y) { return Less(words, x, y, /*is_unsigned=*/false); };
  if (stem == "equal_fwd") return words.Result(Equal(words, left, right));
  if (stem == "less_fwd") return words.Result(less(left, right));
  if (stem == "greater_fwd") return words.Result(less(right, left));
  if (stem == "less_equal_fwd") return words.Result(words.Not(less(right, left)));
  if (stem == "greater_equal_fwd") return words.Result(words.Not(less(left, right)));
  return absl::UnimplementedError(absl::StrCat("Gaudi has no kernel ", stem, " for 64-bit integers; use int32"));
}

// Estimates the quotient of the rest by float32 and subtracts its product with the divisor, until the rest is below
// twice the divisor. An estimate is at most the quotient, and less by at most a part in 2^19, so a step divides the
// rest by 2^19: the quotient that remains is below 2^64, 2^45, 2^26 and 2^7, then at most 1.
absl::StatusOr<WideQuotient> DivideWide(PlanBuilder& builder, TensorId dividend, TensorId divisor) {
  constexpr int kSteps = 4;
  HPU_ASSIGN_OR_RETURN(Halves rest, Split(builder, dividend));
  HPU_ASSIGN_OR_RETURN(const Halves by, Split(builder, divisor));
  IntegerArithmetic words(builder, kWord, builder.sizes(dividend).size());
  Halves quotient = {words.Constant(0), words.Constant(0)};
  const TensorId rough_divisor = RoughFloat(words, by);
  for (int step = 0; step < kSteps; ++step) {
    const TensorId ratio = words.FloatNode("div_fwd", {RoughFloat(words, rest), rough_divisor});
    const TensorId estimate = words.FloatNode("mult_fwd", {ratio, words.Float(1 - 0x1p-20)});
    const Halves part = FromUnsignedFloat(words, estimate);
    quotient = Add(words, quotient, part);
    rest = Subtract(words, rest, Multiply(words, part, by));
  }
  const TensorId fits = words.Not(Less(words, rest, by, /*is_unsigned=*/true));
  quotient = Add(words, quotient, {words.FromMask(fits), words.Constant(0)});
  rest = SelectWide(words, fits, Subtract(words, rest, by), rest);
  HPU_RETURN_IF_ERROR(words.status());
  WideQuotient result;
  HPU_ASSIGN_OR_RETURN(result.quotient, Join(builder, quotient));
  HPU_ASSIGN_OR_RETURN(result.remainder, Join(builder, rest));
  return result;
}

absl::StatusOr<TensorId> WideFromWord(PlanBuilder& builder, TensorId word, bool is_unsigned) {
  IntegerArithmetic words(builder, kWord, builder.sizes(word).size());
  return JoinResult(words, {word, is_unsigned ? words.Constant(0) : words.ShiftRightArithmeticBy(word, 31)});
}

absl::StatusOr<TensorId> LowWord(PlanBuilder& builder, TensorId wide) {
  HPU_ASSIGN_OR_RETURN(const Halves halves, Split(builder, wide));
  // The half of a broadcast tensor keeps the sizes from before the broadcast.
  return halves.low;
}

// Converts a number of 31 bits that rounds as x does, and scales it. Lost bits set the number's last bit. Numbers that
// fit in i32 are converted directly.
absl::StatusOr<TensorId> WideToFloat(PlanBuilder& builder, TensorId wide, bool is_unsigned) {
  HPU_ASSIGN_OR_RETURN(const Halves x, Split(builder, wide));
  IntegerArithmetic words(builder, kWord, builder.sizes(wide).size());
  const TensorId zero = words.Constant(0);
  const TensorId high = is_unsigned ? words.ShiftRightLogicalBy(x.high, 3) : words.ShiftRightArithmeticBy(x.high, 3);
  const TensorId low = words.Or(words.ShiftLeftBy(x.high, 29), words.ShiftRightLogicalBy(x.low, 3));
  // 2 to 31: the exponent of the high half, plus 2.
  const TensorId exponent =
      words.And(words.ShiftRightArithmeticBy(words.BitsOf(words.SignedToFloat(high)), 23), words.Constant(255));
  const TensorId is_short = words.LessSigned(exponent, words.Constant(127));
  const TensorId bits = words.Select(is_short, words.Constant(2), words.Subtract(exponent, words.Constant(125)));
  const TensorId rest = words.Subtract(words.Constant(32), bits);
  const TensorId kept = words.Or(words.ShiftLeft(high, rest), words.ShiftRightLogical(low, bits));
  const TensorId lost = words.Or(words.ShiftLeft(low, rest), words.And(x.low, words.Constant(7)));
  const TensorId sticky = words.FromMask(words.Not(words.Equal(lost, zero)));
  const TensorId mantissa = words.SignedToFloat(words.Or(kept, sticky));
  const TensorId scale = words.FloatOf(words.ShiftLeftBy(words.Add(bits, words.Constant(127 + 3)), 23));
  const TensorId large = words.FloatNode("mult_fwd", {mantissa, scale});
  const TensorId sign = words.ShiftRightArithmeticBy(x.low, 31);
  const TensorId fits = is_unsigned ? words.Equal(words.Or(x.high, sign), zero) : words.Equal(x.high, sign);
  return words.Result(words.Select(fits, words.SignedToFloat(x.low), large));
}

absl::StatusOr<TensorId> WideFromFloat(PlanBuilder& builder, TensorId x, bool is_unsigned) {
  IntegerArithmetic words(builder, kWord, builder.sizes(x).size());
  if (is_unsigned) return JoinResult(words, FromUnsignedFloat(words, x));
  const Halves magnitude = FromUnsignedFloat(words, words.FloatNode("abs_fwd", {x}));
  HPU_RETURN_IF_ERROR(words.status());
  const TensorId is_negative = words.Take(Compare(builder, "less_fwd", x, words.Float(0)));
  return JoinResult(words, SelectWide(words, is_negative, Negate(words, magnitude), magnitude));
}

absl::StatusOr<TensorId> WideCast(PlanBuilder& builder, TensorId x, synapse::synDataType type) {
  if (builder.type(x) == kWide) {
    if (type == synapse::syn_type_float) return WideToFloat(builder, x, /*is_unsigned=*/false);
    HPU_ASSIGN_OR_RETURN(const TensorId narrow,
                         IsFloat(type) ? Cast(builder, x, synapse::syn_type_float) : LowWord(builder, x));
    return Cast(builder, narrow, type);
  }
  if (IsFloat(builder.type(x))) {
    HPU_ASSIGN_OR_RETURN(const TensorId number, Cast(builder, x, synapse::syn_type_float));
    return WideFromFloat(builder, number, /*is_unsigned=*/false);
  }
  if (builder.type(x) == kWord) return WideFromWord(builder, x, /*is_unsigned=*/false);
  HPU_ASSIGN_OR_RETURN(const TensorId word, Cast(builder, x, kWord));
  return Cast(builder, word, kWide);
}

absl::StatusOr<TensorId> MoveHalves(PlanBuilder& builder, TensorId wide, const Sizes& sizes,
                                    absl::FunctionRef<absl::StatusOr<TensorId>(TensorId)> function) {
  Halves halves = *builder.FindHalves(wide);
  const Sizes old_sizes = builder.sizes(wide);
  for (TensorId* half : {&halves.low, &halves.high}) {
    if (ElementCount(builder.sizes(*half)) == 1) {
      const IntegerArithmetic words(builder, kWord, sizes.size());
      const std::optional<int64_t> value = words.ValueOf(*half);
      HPU_ASSIGN_OR_RETURN(*half, value.has_value() ? IntegerScalar(builder, kWord, *value, sizes.size())
                                                    : Reshape(builder, *half, Sizes(sizes.size(), 1)));
    } else {
      HPU_ASSIGN_OR_RETURN(*half, Broadcast(builder, *half, old_sizes));
      HPU_ASSIGN_OR_RETURN(*half, function(*half));
    }
  }
  HPU_ASSIGN_OR_RETURN(const TensorId moved, Join(builder, halves));
  return Broadcast(builder, moved, sizes);
}

// Sums digits of 16 bits, or of 8 if there are more elements, and adds the sums.
absl::StatusOr<TensorId> SumWide(PlanBuilder& builder, TensorId wide, const std::vector<bool>& is_reduced) {
  const Sizes sizes = builder.sizes(wide);
  uint64_t count = 1;
  for (size_t d = 0; d < sizes.size(); ++d) count *= is_reduced[d] ? sizes[d] : 1;
  if (count > uint64_t{1} << 23) {
    return absl::UnimplementedError(
        absl::StrCat("sums of ", count, " 64-bit integers are too large: the maximum is 2^23; use int32"));
  }
  const int digit = count > uint64_t{1} << 15 ? 8 : 16;
  HPU_ASSIGN_OR_RETURN(Halves x, Split(builder, wide));
  for (TensorId* half : {&x.low, &x.high}) {
    HPU_ASSIGN_OR_RETURN(*half, Broadcast(builder, *half, sizes));
  }
  IntegerArithmetic words(builder, kWord, sizes.size());
  Halves sum = {words.Constant(0), words.Constant(0)};
  for (int start = 0; start < 32; start += digit) {
    const TensorId low = SumDigits(words, x.low, start, digit, is_reduced);
    const TensorId high = SumDigits(words, x.high, start, digit, is_reduced);
    sum = Add(words, sum, ShiftLeftByConstant(words, {low, words.Constant(0)}, start));
    sum.high = words.Add(sum.high, words.ShiftLeftBy(high, start));
  }
  return JoinResult(words, sum);
}

absl::StatusOr<TensorId> WideCountOnes(PlanBuilder& builder, TensorId wide) {
  HPU_ASSIGN_OR_RETURN(const Halves x, Split(builder, wide));
  IntegerArithmetic words(builder, kWord, builder.sizes(wide).size());
  const TensorId low = words.CountOnes(x.low);
  return JoinResult(words, {words.Add(low, words.CountOnes(x.high)), words.Constant(0)});
}

absl::StatusOr<TensorId> WideCountLeadingZeros(PlanBuilder& builder, TensorId wide) {
  HPU_ASSIGN_OR_RETURN(const Halves x, Split(builder, wide));
  IntegerArithmetic words(builder, kWord, builder.sizes(wide).size());
  const TensorId below = words.Add(words.CountLeadingZeros(x.low), words.Constant(32));
  const TensorId is_low = words.Equal(x.high, words.Constant(0));
  return JoinResult(words, {words.Select(is_low, below, words.CountLeadingZeros(x.high)), words.Constant(0)});
}

}  // namespace hpu::gaudi
