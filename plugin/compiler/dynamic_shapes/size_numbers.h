// SizeNumber: a number that is known at compile time, or that a program computes from sizes.
#ifndef HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_SIZE_NUMBERS_H_
#define HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_SIZE_NUMBERS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape.h"

namespace hpu {

// A computed number is an int32 scalar.
struct SizeNumber {
  std::optional<int64_t> known;
  xla::XlaOp value;  // valid if the number is not known
  int64_t low = 0;   // bounds, also of a known number
  int64_t high = 0;

  static SizeNumber Known(int64_t number) { return {number, {}, number, number}; }
  static SizeNumber Computed(xla::XlaOp value, int64_t low, int64_t high) { return {std::nullopt, value, low, high}; }

  xla::XlaOp AsOp(xla::XlaBuilder* builder) const;
};

SizeNumber Plus(const SizeNumber& one, const SizeNumber& other);
SizeNumber Minus(const SizeNumber& one, const SizeNumber& other);
SizeNumber Least(const SizeNumber& one, const SizeNumber& other);
SizeNumber Most(const SizeNumber& one, const SizeNumber& other);
SizeNumber Times(const SizeNumber& one, const SizeNumber& other);
// Rounds up. `divisor` is positive.
SizeNumber DividedBy(const SizeNumber& one, int64_t divisor);

// Makes launches fail for sizes for which `number` is less than `least`. The launch then fails as the CPU's kernel
// does.
void RequireAtLeast(xla::XlaBuilder* builder, const SizeNumber& number, const SizeNumber& least);

// Size of a dimension.
SizeNumber SizeOf(xla::XlaOp array, const xla::Shape& shape, int64_t d);
// Sizes of all dimensions.
std::vector<SizeNumber> SizesOf(xla::XlaOp array, const xla::Shape& shape);

// Elements of an integer input. Fails if an upper bound is unknown. A number without a known lower bound may be any
// negative number.
absl::StatusOr<std::vector<SizeNumber>> SizeNumbersOf(tensorflow::XlaOpKernelContext* context, int input);

// Sets the sizes that are not known.
xla::XlaOp SetSizes(xla::XlaOp array, const std::vector<SizeNumber>& sizes);

// Makes all dimensions static.
xla::XlaOp RemoveSizes(xla::XlaOp array, const xla::Shape& shape);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_DYNAMIC_SHAPES_SIZE_NUMBERS_H_
