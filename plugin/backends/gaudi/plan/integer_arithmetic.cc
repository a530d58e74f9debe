#include "plugin/backends/gaudi/plan/integer_arithmetic.h"

#include <cstring>
#include <utility>

#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/backends/gaudi/synapse/params.h"

namespace hpu::gaudi {
absl::StatusOr<TensorId> IntegerArithmetic::Result(TensorId x) const {
  if (!status_.ok()) return status_;
  return x;
}

TensorId IntegerArithmetic::Take(absl::StatusOr<TensorId> x) {
  if (x.ok() && status_.ok()) return *x;
  if (status_.ok()) status_ = x.status();
  return kNoTensor;
}

TensorId IntegerArithmetic::Constant(int64_t value) { return Take(IntegerScalar(builder_, type_, value, rank_)); }

std::optional<int64_t> IntegerArithmetic::ValueOf(TensorId x) const {
  if (x == kNoTensor) return std::nullopt;
  const PlanTensor& tensor = builder_.tensor(builder_.Storage(x));
  uint64_t value = 0;
  if (tensor.role != TensorRole::kConstant || ElementCount(tensor.sizes) != 1) return std::nullopt;
  std::memcpy(&value, tensor.data.data(), tensor.data.size());
  const size_t unused = 8 * (sizeof(value) - tensor.data.size());
  return static_cast<int64_t>(value << unused) >> unused;
}

// Adds a node. If both operands are constants of one element, computes the word with `fold` instead.
template <typename Fold>
TensorId IntegerArithmetic::Binary(absl::string_view stem, TensorId a, TensorId b, const Fold& fold) {
  if (!status_.ok()) return kNoTensor;
  const std::optional<int64_t> left = ValueOf(a);
  const std::optional<int64_t> right = ValueOf(b);
  if (left.has_value() && right.has_value())
    return Constant(static_cast<int64_t>(fold(static_cast<uint64_t>(*left), static_cast<uint64_t>(*right))));
  return Take(Elementwise(builder_, stem, {a, b}));
}

TensorId IntegerArithmetic::Mask(bool value) {
  return Take(IntegerScalar(builder_, synapse::syn_type_int8, value, rank_));
}

template <typename Fold>
TensorId IntegerArithmetic::Comparison(absl::string_view stem, TensorId a, TensorId b, const Fold& fold) {
  if (!status_.ok()) return kNoTensor;
  const std::optional<int64_t> left = ValueOf(a);
  const std::optional<int64_t> right = ValueOf(b);
  if (left.has_value() && right.has_value()) return Mask(fold(*left, *right));
  return Take(Compare(builder_, stem, a, b));
}

TensorId IntegerArithmetic::Add(TensorId a, TensorId b) {
  if (IsConstant(a, 0)) return b;
  if (IsConstant(b, 0)) return a;
  return Binary("add_fwd", a, b, [](uint64_t x, uint64_t y) { return x + y; });
}

TensorId IntegerArithmetic::Subtract(TensorId a, TensorId b) {
  if (IsConstant(b, 0)) return a;
  return Binary("sub_fwd", a, b, [](uint64_t x, uint64_t y) { return x - y; });
}

TensorId IntegerArithmetic::Multiply(TensorId a, TensorId b) {
  if (IsConstant(a, 0) || IsConstant(b, 1)) return a;
  if (IsConstant(b, 0) || IsConstant(a, 1)) return b;
  return Binary("mult_fwd", a, b, [](uint64_t x, uint64_t y) { return x * y; });
}

TensorId IntegerArithmetic::And(TensorId a, TensorId b) {
  if (IsConstant(a, 0) || IsConstant(b, -1)) return a;
  if (IsConstant(b, 0) || IsConstant(a, -1)) return b;
  return Binary("bitwise_and_fwd", a, b, [](uint64_t x, uint64_t y) { return x & y; });
}

TensorId IntegerArithmetic::Or(TensorId a, TensorId b) {
  if (IsConstant(a, 0) || IsConstant(b, -1)) return b;
  if (IsConstant(b, 0) || IsConstant(a, -1)) return a;
  return Binary("bitwise_or_fwd", a, b, [](uint64_t x, uint64_t y) { return x | y; });
}

TensorId IntegerArithmetic::Xor(TensorId a, TensorId b) {
  if (IsConstant(a, 0)) return b;
  if (IsConstant(b, 0)) return a;
  return Binary("bitwise_xor_fwd", a, b, [](uint64_t x, uint64_t y) { return x ^ y; });
}

TensorId IntegerArithmetic::Shift(TensorId x, TensorId bits, bool left) {
  synapse::ns_BitShiftKernel::Params params = {};
  params.direction = left ? synapse::ns_BitShiftKernel::BIT_SHIFT_LEFT : synapse::ns_BitShiftKernel::BIT_SHIFT_RIGHT;
  if (!status_.ok()) return kNoTensor;
  return Take(ElementwiseWithParams(builder_, "bitshift_fwd", {x, bits}, ParamsBytes(params)));
}

TensorId IntegerArithmetic::ShiftLeft(TensorId x, TensorId bits) {
  if (IsConstant(bits, 0)) return x;
  if (const auto value = ValueOf(x), count = ValueOf(bits); value.has_value() && count.has_value()) {
    return Constant(static_cast<int64_t>(static_cast<uint64_t>(*value) << *count));
  }
  return Shift(x, bits, /*left=*/true);
}

TensorId IntegerArithmetic::ShiftRightArithmetic(TensorId x, TensorId bits) {
  if (IsConstant(bits, 0)) return x;
  if (const auto value = ValueOf(x), count = ValueOf(bits); value.has_value() && count.has_value()) {
    return Constant(*value >> *count);
  }
  return Shift(x, bits, /*left=*/false);
}

// The kernel's shift repeats the sign, so a mask clears the high bits.
TensorId IntegerArithmetic::ShiftRightLogical(TensorId x, TensorId bits) {
  if (const auto count = ValueOf(bits); count.has_value()) {
    if (*count == 0) return x;
    return And(ShiftRightArithmetic(x, bits), Constant(static_cast<int64_t>((uint64_t{1} << (bits_ - *count)) - 1)));
  }
  const TensorId high = ShiftLeftBy(ShiftLeft(Constant(-1), Subtract(Constant(bits_ - 1), bits)), 1);
  return And(ShiftRightArithmetic(x, bits), Complement(high));
}

// x · factor / 2^32 with x = 2^16 · x1 + x0, and the factor as a signed number 2^16 · f1 + f0. Digits of x are not
// negative, and the factor's digits have 15 bits and a sign, so all sums fit in i32.
TensorId IntegerArithmetic::MultiplyHighByConstant(TensorId x, int64_t factor) {
  const auto digit = static_cast<int16_t>(factor & 0xffff);
  const TensorId low = Constant(digit);
  const TensorId high = Constant((factor - digit) >> 16);
  const TensorId x0 = And(x, Constant(0xffff));
  const TensorId x1 = ShiftRightLogicalBy(x, 16);
  const TensorId middle = Add(Multiply(x1, low), ShiftRightArithmeticBy(Multiply(x0, low), 16));
  const TensorId carry = Add(Multiply(x0, high), And(middle, Constant(0xffff)));
  const TensorId top =
      Add(Add(Multiply(x1, high), ShiftRightArithmeticBy(middle, 16)), ShiftRightArithmeticBy(carry, 16));
  // A factor of 2^31 or more is 2^32 more than the signed number.
  return factor < 0 ? Add(top, x) : top;
}

TensorId IntegerArithmetic::MultiplyHigh(TensorId a, TensorId b) {
  if (const auto x = ValueOf(a), y = ValueOf(b); x.has_value() && y.has_value()) {
    return Constant(static_cast<int64_t>((uint64_t{static_cast<uint32_t>(*x)} * static_cast<uint32_t>(*y)) >> 32));
  }
  if (ValueOf(a).has_value()) std::swap(a, b);
  // The high digit of larger positive factors has 16 bits.
  if (const auto factor = ValueOf(b); factor.has_value() && *factor < 0x7fff8000) {
    return *factor == 0 || *factor == 1 ? Constant(0) : MultiplyHighByConstant(a, *factor);
  }
  const TensorId a0 = And(a, Constant(0xffff));
  const TensorId a1 = ShiftRightLogicalBy(a, 16);
  const TensorId b0 = And(b, Constant(0xffff));
  const TensorId b1 = ShiftRightLogicalBy(b, 16);
  const TensorId middle = Add(Multiply(a1, b0), ShiftRightLogicalBy(Multiply(a0, b0), 16));
  const TensorId carry = Add(Multiply(a0, b1), And(middle, Constant(0xffff)));
  return Add(Add(Multiply(a1, b1), ShiftRightLogicalBy(middle, 16)), ShiftRightLogicalBy(carry, 16));
}

// Sums of neighbouring 1, 2 and 4 bits, then of the bytes.
TensorId IntegerArithmetic::CountOnes(TensorId x) {
  const TensorId pairs = Subtract(x, And(ShiftRightArithmeticBy(x, 1), Constant(0x55555555)));
  const TensorId nibbles =
      Add(And(pairs, Constant(0x33333333)), And(ShiftRightArithmeticBy(pairs, 2), Constant(0x33333333)));
  const TensorId bytes = And(Add(nibbles, ShiftRightArithmeticBy(nibbles, 4)), Constant(0x0f0f0f0f));
  return ShiftRightLogicalBy(Multiply(bytes, Constant(0x01010101)), 24);
}

// Reads the index of the highest bit from the exponent of a float32. Clears the bit below the highest one, so that the
// float does not round up to the next power of two.
TensorId IntegerArithmetic::CountLeadingZeros(TensorId x) {
  const TensorId rounded = And(x, Complement(ShiftRightLogicalBy(x, 1)));
  // 0 for the number 0, else 127 + index of the highest bit.
  const TensorId exponent = ShiftRightArithmeticBy(BitsOf(SignedToFloat(rounded)), 23);
  const TensorId zeros = Subtract(Constant(127 + 31), exponent);
  const TensorId limited = Select(LessSigned(Constant(32), zeros), Constant(32), zeros);
  return Select(IsNegative(x), Constant(0), limited);
}

TensorId IntegerArithmetic::Equal(TensorId a, TensorId b) {
  return Comparison("equal_fwd", a, b, [](int64_t x, int64_t y) { return x == y; });
}

TensorId IntegerArithmetic::LessSigned(TensorId a, TensorId b) {
  return Comparison("less_fwd", a, b, [](int64_t x, int64_t y) { return x < y; });
}

TensorId IntegerArithmetic::LessUnsigned(TensorId a, TensorId b) { return LessSigned(Xor(a, Sign()), Xor(b, Sign())); }

TensorId IntegerArithmetic::Both(TensorId a, TensorId b) {
  for (const auto& [mask, other] : {std::pair(a, b), std::pair(b, a)}) {
    if (const auto value = ValueOf(mask); value.has_value()) return *value == 0 ? mask : other;
  }
  return status_.ok() ? Take(Elementwise(builder_, "bitwise_and_fwd", {a, b})) : kNoTensor;
}

TensorId IntegerArithmetic::Either(TensorId a, TensorId b) {
  for (const auto& [mask, other] : {std::pair(a, b), std::pair(b, a)}) {
    if (const auto value = ValueOf(mask); value.has_value()) return *value == 0 ? other : mask;
  }
  return status_.ok() ? Take(Elementwise(builder_, "bitwise_or_fwd", {a, b})) : kNoTensor;
}

TensorId IntegerArithmetic::Not(TensorId mask) {
  if (const auto value = ValueOf(mask); value.has_value()) return Mask(*value == 0);
  return status_.ok() ? Take(gaudi::Not(builder_, mask)) : kNoTensor;
}

TensorId IntegerArithmetic::FromMask(TensorId mask) {
  if (const auto value = ValueOf(mask); value.has_value()) return Constant(*value);
  return status_.ok() ? Take(Cast(builder_, mask, type_)) : kNoTensor;
}

TensorId IntegerArithmetic::Select(TensorId mask, TensorId a, TensorId b) {
  if (const auto value = ValueOf(mask); value.has_value()) return *value != 0 ? a : b;
  if (a == b) return a;
  return status_.ok() ? Take(Where(builder_, mask, a, b)) : kNoTensor;
}

TensorId IntegerArithmetic::Float(double value) {
  return Take(Scalar(builder_, synapse::syn_type_float, value, rank_));
}

TensorId IntegerArithmetic::FloatNode(absl::string_view stem, std::vector<TensorId> operands) {
  if (!status_.ok()) return kNoTensor;
  return Take(Elementwise(builder_, stem, std::move(operands)));
}

TensorId IntegerArithmetic::SignedToFloat(TensorId x) {
  return status_.ok() ? Take(Cast(builder_, x, synapse::syn_type_float)) : kNoTensor;
}

TensorId IntegerArithmetic::BitsOf(TensorId x) {
  return status_.ok() ? Take(Reinterpret(builder_, x, type_)) : kNoTensor;
}

TensorId IntegerArithmetic::FloatOf(TensorId bits) {
  return status_.ok() ? Take(Reinterpret(builder_, bits, synapse::syn_type_float)) : kNoTensor;
}

// The kernel converts signed numbers. From 2^31 on, converts half of the number. The half's last bit keeps the lost
// bit, so that the half rounds as the number does.
TensorId IntegerArithmetic::UnsignedToFloat(TensorId x) {
  const TensorId is_large = IsNegative(x);
  const TensorId half = Or(ShiftRightLogicalBy(x, 1), And(x, Constant(1)));
  const TensorId value = SignedToFloat(Select(is_large, half, x));
  return Select(is_large, FloatNode("add_fwd", {value, value}), value);
}

TensorId IntegerArithmetic::UnsignedFromFloat(TensorId x) {
  const TensorId half = Float(2147483648.0);
  if (!status_.ok()) return kNoTensor;
  const TensorId is_large = Take(Compare(builder_, "greater_equal_fwd", x, half));
  const TensorId small = Select(is_large, FloatNode("sub_fwd", {x, half}), x);
  if (!status_.ok()) return kNoTensor;
  const TensorId word = Take(Cast(builder_, small, type_));
  return Select(is_large, Xor(word, Sign()), word);
}

}  // namespace hpu::gaudi
