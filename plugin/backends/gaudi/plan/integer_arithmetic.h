// IntegerArithmetic: nodes over signed and unsigned integers of 32 and 64 bits.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_PLAN_INTEGER_ARITHMETIC_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_PLAN_INTEGER_ARITHMETIC_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/gaudi/plan/plan_builder.h"

namespace hpu::gaudi {

// Adds nodes over words: tensors of one type, i32 or i64, whose bits are those of signed or unsigned numbers. Operands
// of a node have equal ranks; each size is 1 or the result's size. Operations on constants of one element are folded.
// After a failure all functions return kNoTensor; status() is the first failure. Masks are i8, 0 or 1. Not thread safe.
class IntegerArithmetic {
 public:
  // `rank`: rank of the constants.
  IntegerArithmetic(PlanBuilder& builder, synapse::synDataType type, size_t rank)
      : builder_(builder), type_(type), rank_(rank), bits_(8 * static_cast<uint32_t>(BytesOf(type))) {}

  PlanBuilder& builder() { return builder_; }
  // Width of a word.
  uint32_t bits() const { return bits_; }
  const absl::Status& status() const { return status_; }
  // `x`, or the first failure.
  absl::StatusOr<TensorId> Result(TensorId x) const;
  // Unwraps `x`. Stores the first failure, and returns kNoTensor after a failure.
  TensorId Take(absl::StatusOr<TensorId> x);

  // The low bits of `value`.
  TensorId Constant(int64_t value);
  // The number in which only the sign bit is set.
  TensorId Sign() { return Constant(std::numeric_limits<int64_t>::min() >> (64 - bits_)); }
  // The signed value of a constant word or mask of one element.
  std::optional<int64_t> ValueOf(TensorId x) const;
  bool IsConstant(TensorId x, int64_t value) const { return ValueOf(x) == value; }

  // Modulo 2^bits.
  TensorId Add(TensorId a, TensorId b);
  TensorId Subtract(TensorId a, TensorId b);
  TensorId Multiply(TensorId a, TensorId b);
  TensorId Negate(TensorId x) { return Subtract(Constant(0), x); }

  TensorId And(TensorId a, TensorId b);
  TensorId Or(TensorId a, TensorId b);
  TensorId Xor(TensorId a, TensorId b);
  TensorId Complement(TensorId x) { return Xor(x, Constant(-1)); }
  // Shifts by 0 to bits - 1.
  TensorId ShiftLeft(TensorId x, TensorId bits);
  TensorId ShiftRightArithmetic(TensorId x, TensorId bits);
  TensorId ShiftRightLogical(TensorId x, TensorId bits);
  TensorId ShiftLeftBy(TensorId x, int bits) { return ShiftLeft(x, Constant(bits)); }
  TensorId ShiftRightArithmeticBy(TensorId x, int bits) { return ShiftRightArithmetic(x, Constant(bits)); }
  TensorId ShiftRightLogicalBy(TensorId x, int bits) { return ShiftRightLogical(x, Constant(bits)); }

  // Masks.
  TensorId Equal(TensorId a, TensorId b);
  TensorId LessSigned(TensorId a, TensorId b);
  TensorId LessUnsigned(TensorId a, TensorId b);
  TensorId IsNegative(TensorId x) { return LessSigned(x, Constant(0)); }
  TensorId Both(TensorId a, TensorId b);
  TensorId Either(TensorId a, TensorId b);
  TensorId Not(TensorId mask);
  // 0 or 1.
  TensorId FromMask(TensorId mask);
  // a where the mask is 1, else b. Also for floats.
  TensorId Select(TensorId mask, TensorId a, TensorId b);

  // Only for words of 32 bits:
  // The high bits of the product of two unsigned numbers.
  TensorId MultiplyHigh(TensorId a, TensorId b);
  // Number of 1 bits, and number of leading 0 bits (32 for 0).
  TensorId CountOnes(TensorId x);
  TensorId CountLeadingZeros(TensorId x);
  // Nearest float32 of signed and unsigned numbers, ties to even.
  TensorId SignedToFloat(TensorId x);
  TensorId UnsignedToFloat(TensorId x);
  // The integral part of a float32 of 0 to 2^32 - 1.
  TensorId UnsignedFromFloat(TensorId x);
  // The bits of a float32, and the float32 of bits.
  TensorId BitsOf(TensorId x);
  TensorId FloatOf(TensorId bits);
  // Nodes of float32.
  TensorId Float(double value);
  TensorId FloatNode(absl::string_view stem, std::vector<TensorId> operands);

 private:
  template <typename Fold>
  TensorId Binary(absl::string_view stem, TensorId a, TensorId b, const Fold& fold);
  template <typename Fold>
  TensorId Comparison(absl::string_view stem, TensorId a, TensorId b, const Fold& fold);
  TensorId Shift(TensorId x, TensorId bits, bool left);
  TensorId Mask(bool value);
  TensorId MultiplyHighByConstant(TensorId x, int64_t factor);

  PlanBuilder& builder_;
  const synapse::synDataType type_;
  const size_t rank_;
  const uint32_t bits_;
  absl::Status status_;
};

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_PLAN_INTEGER_ARITHMETIC_H_
