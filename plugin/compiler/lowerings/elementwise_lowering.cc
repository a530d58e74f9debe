#include "plugin/compiler/lowerings/elementwise_lowering.h"

#include "xla/hlo/builder/lib/math.h"

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

XlaOp ErrorFunction(XlaOp x) {
  constexpr double kRoundsToOne = 3.832506856900711;  // in float32, as in Eigen
  const absl::StatusOr<xla::Shape> shape = x.builder()->GetShape(x);
  if (!shape.ok() || shape->element_type() == xla::F64) return xla::Erf(x);
  return xla::Select(xla::Ge(xla::Abs(x), Scalar(x, kRoundsToOne)), xla::Sign(x), xla::Erf(x));
}

}  // namespace hpu
