// Lowerings of the incomplete gamma functions and their derivatives by the order. XLA's series do not end for large
// orders, and its results for orders of 0, and for negative and infinite arguments, are not the CPU's.
//
// As in Eigen's kernels (unsupported/Eigen/src/SpecialFunctions/SpecialFunctionsImpl.h), which come from the Cephes
// library (igam.c), a power series or a continued fraction with a bounded number of terms is evaluated, and
// differentiated term by term.
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <vector>

#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/lowerings/elementwise_lowering.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/loops.h"
#include "xla/hlo/builder/lib/math.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu {
namespace {

using xla::XlaOp;

enum class GammaQuantity {
  kValue,
  kDerivative,        // of the value by the order a
  kSampleDerivative,  // of a sample x of the gamma distribution by its order a
};

struct GammaLimits {
  xla::PrimitiveType type;
  double epsilon;  // relative size of negligible terms
  double large;    // numerators above it are scaled by `scale`
  double scale;
  double largest;  // number of the type
  double large_order;
  int value_terms;  // most terms, as on the CPU
  int derivative_terms;
};
constexpr GammaLimits kGammaFloats = {xla::F32, 0x1p-24, 0x1p24, 0x1p-24, FLT_MAX, 1e3, 2000, 200};
constexpr GammaLimits kGammaDoubles = {xla::F64, 0x1p-53, 0x1p52, 0x1p-52, DBL_MAX, 1e6, 2000, 500};
constexpr double kHalfLogOfTwoPi = 0.91893853320467274178;

// Operands of one evaluation.
struct GammaOperands {
  XlaOp a, x;
  const GammaLimits& limits;
  GammaQuantity quantity;

  bool derives() const { return quantity != GammaQuantity::kValue; }
  int terms() const { return derives() ? limits.derivative_terms : limits.value_terms; }
};

using GammaState = std::vector<XlaOp>;

// Repeats `step` while an element is active and terms are left. `step` updates the state, and returns the elements
// that stay active.
template <typename Step>
absl::StatusOr<GammaState> Iterate(const GammaOperands& of, XlaOp active, GammaState state, Step step) {
  const auto more = [terms = of.terms()](absl::Span<const XlaOp> all, xla::XlaBuilder*) -> absl::StatusOr<XlaOp> {
    return xla::And(xla::Lt(all[0], xla::ScalarLike(all[0], terms)), xla::Any(all[1]));
  };
  const auto turn = [step](absl::Span<const XlaOp> all, xla::XlaBuilder*) -> absl::StatusOr<GammaState> {
    GammaState next(all.begin() + 2, all.end());
    const XlaOp index = all[0] + xla::ScalarLike(all[0], 1);
    const XlaOp active = step(index, all[1], &next);
    next.insert(next.begin(), {index, active});
    return next;
  };
  state.insert(state.begin(), {xla::ConstantR0<int32_t>(active.builder(), 0), active});
  auto last = xla::WhileLoopHelper(more, turn, state, "incomplete_gamma", active.builder());
  if (last.ok()) last->erase(last->begin(), last->begin() + 2);
  return last;
}

// x^a e^-x / gamma(a), and 0 instead of denormals and NaN. For large orders, the terms of the logarithm cancel each
// other, and the CPU's result has few correct digits. There, Stirling's formula is used, except where the terms
// overflow.
XlaOp GammaDensity(const GammaOperands& of) {
  const XlaOp distance = (of.x - of.a) / of.a;
  const XlaOp stirling = of.a * (xla::Log1p(distance) - distance) + xla::Log(of.a) * Scalar(of.a, 0.5) -
                         Scalar(of.a, kHalfLogOfTwoPi) - Scalar(of.a, 1.0 / 12) / of.a;
  const XlaOp direct = of.a * xla::Log(of.x) - of.x - xla::Lgamma(of.a);
  const XlaOp is_large = xla::Gt(of.a, Scalar(of.a, of.limits.large_order));
  const XlaOp power = xla::Select(xla::And(is_large, xla::Not(xla::IsNan(direct))), stirling, direct);
  const XlaOp counts = xla::Ge(power, Scalar(power, -std::log(of.limits.largest)));  // false for NaN
  return xla::Select(counts, xla::Exp(power), xla::ZerosLike(power));
}

XlaOp QuantityOf(const GammaOperands& of, XlaOp density, XlaOp sum, XlaOp sum_derivative, XlaOp log_derivative,
                 XlaOp divisor) {
  switch (of.quantity) {
    case GammaQuantity::kValue:
      return sum * density;
    case GammaQuantity::kDerivative:
      return sum * (density * log_derivative) + sum_derivative * density;
    case GammaQuantity::kSampleDerivative:
      break;
  }
  return -(sum_derivative + sum * log_derivative) * of.x / divisor;
}

// Lower function by its power series. Elements that are not active have any value.
absl::StatusOr<XlaOp> LowerGamma(const GammaOperands& of, XlaOp active) {
  const XlaOp zero = xla::ZerosLike(of.a), one = xla::FullLike(of.a, 1), whole = GammaDensity(of);
  const XlaOp counts = xla::Ne(whole, zero);
  GammaState state = {of.x, of.a, one, one};  // x, r, term, sum
  if (of.derives()) state.insert(state.end(), {zero, zero});
  const auto step = [&](XlaOp, XlaOp active, GammaState* state) {
    const XlaOp x = (*state)[0], epsilon = Scalar(x, of.limits.epsilon);
    XlaOp &r = (*state)[1], &term = (*state)[2], &sum = (*state)[3];
    r = r + Scalar(r, 1);
    const XlaOp factor = x / r;
    XlaOp goes_on;
    if (of.derives()) {
      XlaOp &derivative = (*state)[4], &sum_derivative = (*state)[5];
      derivative = factor * derivative + (-x / (r * r)) * term;
      sum_derivative = xla::Select(active, sum_derivative + derivative, sum_derivative);
      goes_on = xla::Gt(xla::Abs(derivative), epsilon * xla::Abs(sum_derivative));
    }
    term = term * factor;
    sum = xla::Select(active, sum + term, sum);
    if (!of.derives()) goes_on = xla::Gt(term, epsilon * sum);
    return xla::And(active, goes_on);
  };
  const auto last = Iterate(of, xla::And(active, counts), state, step);
  if (!last.ok()) return last.status();
  const XlaOp sum = (*last)[3];
  if (!of.derives()) return xla::Select(counts, sum * (whole / of.a), zero);
  const XlaOp log_derivative = xla::Log(of.x) - xla::Digamma(of.a + one);
  return xla::Select(counts, QuantityOf(of, whole / of.a, sum, (*last)[5], log_derivative, of.a), zero);
}

// Upper function by its continued fraction. Elements that are not active have any value.
absl::StatusOr<XlaOp> UpperGamma(const GammaOperands& of, XlaOp active) {
  const XlaOp zero = xla::ZerosLike(of.a), one = xla::FullLike(of.a, 1), density = GammaDensity(of);
  const XlaOp counts = xla::And(xla::Ne(density, zero), xla::Lt(of.x, Scalar(of.x, kInfinity)));
  const XlaOp y = one - of.a, z = of.x + y + one;
  const XlaOp p = of.x + one, q = z * of.x, value = p / q;
  // y, z, value; numerators and denominators of the last two fractions. The same of the derivatives.
  GammaState state = {y, z, value, one, of.x, p, q};
  if (of.derives()) state.insert(state.end(), {value * of.x / q, zero, zero, zero, -of.x});
  const auto step = [&](XlaOp index, XlaOp active, GammaState* state) {
    GammaState& all = *state;
    const XlaOp y = all[0] + Scalar(all[0], 1), z = all[1] + Scalar(all[1], 2), epsilon = Scalar(y, of.limits.epsilon);
    const XlaOp c = xla::ConvertElementType(index, of.limits.type), yc = y * c;
    const XlaOp before = all[2], p2 = all[3], q2 = all[4], p1 = all[5], q1 = all[6];
    const XlaOp p = p1 * z - p2 * yc, q = q1 * z - q2 * yc;
    const XlaOp divides = xla::Ne(q, xla::ZerosLike(q)), replaces = xla::And(active, divides);
    const XlaOp value = xla::Select(replaces, p / q, before);
    const XlaOp scale = xla::Select(xla::Gt(xla::Abs(p), Scalar(p, of.limits.large)), xla::FullLike(p, of.limits.scale),
                                    xla::FullLike(p, 1));
    XlaOp goes_on;
    if (of.derives()) {
      const XlaOp before = all[7], dp2 = all[8], dq2 = all[9], dp1 = all[10], dq1 = all[11];
      const XlaOp dp = dp1 * z - p1 - dp2 * yc + p2 * c, dq = dq1 * z - q1 - dq2 * yc + q2 * c;
      const XlaOp derivative = xla::Select(replaces, (dp - value * dq) / q, before);
      goes_on = xla::Gt(xla::Abs(derivative - before), epsilon);
      all = {y, z, value, p1, q1, p, q, derivative, dp1 * scale, dq1 * scale, dp * scale, dq * scale};
    } else {
      goes_on = xla::Gt(xla::Abs(before - value), epsilon * xla::Abs(value));
      all = {y, z, value, p1, q1, p, q};
    }
    for (int i = 3; i < 7; ++i) all[i] = all[i] * scale;
    return xla::And(active, xla::Or(goes_on, xla::Not(divides)));
  };
  const auto last = Iterate(of, xla::And(active, counts), state, step);
  if (!last.ok()) return last.status();
  if (!of.derives()) return xla::Select(counts, (*last)[2] * density, zero);
  const XlaOp log_derivative = xla::Log(of.x) - xla::Digamma(of.a);
  return xla::Select(counts, QuantityOf(of, density, (*last)[2], (*last)[7], log_derivative, one), zero);
}

// Operands of which one is NaN, negative, or an order of 0.
XlaOp IsOutsideOfGamma(const GammaOperands& of) {
  const XlaOp zero = xla::ZerosLike(of.x);
  return xla::Not(xla::And(xla::Ge(of.x, zero), xla::Gt(of.a, zero)));
}

template <GammaQuantity kQuantity>
absl::StatusOr<XlaOp> IgammaOf(const GammaOperands& of) {
  const XlaOp zero = xla::ZerosLike(of.x), outside = IsOutsideOfGamma(of);
  const XlaOp inside = xla::And(xla::Not(outside), xla::Ne(of.x, zero));
  const XlaOp is_upper = xla::And(xla::Gt(of.x, Scalar(of.x, 1)), xla::Gt(of.x, of.a));
  const auto upper = UpperGamma(of, xla::And(inside, is_upper));
  if (!upper.ok()) return upper.status();
  const auto lower = LowerGamma(of, xla::And(inside, xla::Not(is_upper)));
  if (!lower.ok()) return lower.status();
  const XlaOp rest = of.derives() ? -*upper : Scalar(of.x, 1) - *upper;
  return NumberWhere(xla::Eq(of.x, zero), 0, NumberWhere(outside, kNan, xla::Select(is_upper, rest, *lower)));
}

absl::StatusOr<XlaOp> IgammacOf(const GammaOperands& of) {
  const XlaOp outside = IsOutsideOfGamma(of), inside = xla::Not(outside);
  const XlaOp is_lower = xla::Or(xla::Lt(of.x, Scalar(of.x, 1)), xla::Lt(of.x, of.a));
  const auto upper = UpperGamma(of, xla::And(inside, xla::Not(is_lower)));
  if (!upper.ok()) return upper.status();
  const auto lower = LowerGamma(of, xla::And(inside, is_lower));
  if (!lower.ok()) return lower.status();
  return NumberWhere(outside, kNan, xla::Select(is_lower, Scalar(of.x, 1) - *lower, *upper));
}

template <GammaQuantity kQuantity, absl::StatusOr<XlaOp> (*kFunction)(const GammaOperands&)>
XlaOp IncompleteGamma(XlaOp a, XlaOp x, xla::PrimitiveType type) {
  const GammaLimits& limits = type == xla::F64 ? kGammaDoubles : kGammaFloats;
  return a.builder()->ReportErrorOrReturn(
      [&]() -> absl::StatusOr<XlaOp> { return kFunction({a, x, limits, kQuantity}); });
}

template <GammaQuantity kQuantity>
using IgammaLowering = PairLowering<IncompleteGamma<kQuantity, IgammaOf<kQuantity>>>;
using IgammacLowering = PairLowering<IncompleteGamma<GammaQuantity::kValue, IgammacOf>>;

REGISTER_XLA_OP(Name("Igamma").Device(kCompilationDevice), IgammaLowering<GammaQuantity::kValue>)
REGISTER_XLA_OP(Name("Igammac").Device(kCompilationDevice), IgammacLowering)
REGISTER_XLA_OP(Name("IgammaGradA").Device(kCompilationDevice), IgammaLowering<GammaQuantity::kDerivative>)
REGISTER_XLA_OP(Name("RandomGammaGrad").Device(kCompilationDevice), IgammaLowering<GammaQuantity::kSampleDerivative>)

}  // namespace
}  // namespace hpu
