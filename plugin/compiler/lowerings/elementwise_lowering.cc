#include "plugin/compiler/lowerings/elementwise_lowering.h"

namespace hpu {

using xla::XlaOp;

XlaOp Polynomial(XlaOp x, absl::Span<const double> coefficients) {
  XlaOp sum = xla::FullLike(x, coefficients[0]);
  for (const double coefficient : coefficients.subspan(1)) sum = sum * x + Scalar(x, coefficient);
  return sum;
}

XlaOp ChebyshevSum(XlaOp x, absl::Span<const double> coefficients) {
  XlaOp sum = xla::FullLike(x, coefficients[0]), before = xla::ZerosLike(x), first = before;
  for (const double coefficient : coefficients.subspan(1)) {
    first = before;
    before = sum;
    sum = x * before - first + Scalar(x, coefficient);
  }
  return Scalar(x, 0.5) * (sum - first);
}

}  // namespace hpu
