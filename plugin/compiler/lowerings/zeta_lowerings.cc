// Lowerings of Zeta and Polygamma. XLA's series has only seven correct digits and returns other values at the poles.
//
// The sum of (q + k)^-x is computed by the Euler-Maclaurin formula, as in the Cephes library (zeta.c). The special
// cases come from Eigen's kernel (unsupported/Eigen/src/SpecialFunctions/SpecialFunctionsImpl.h).
#include <array>
#include <limits>

#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/lowerings/elementwise_lowering.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/math.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu {
namespace {

using xla::XlaOp;

// (2k)! divided by the Bernoulli number B(2k), for k from 1.
constexpr std::array<double, 12> kCoefficients = {12.0,
                                                  -720.0,
                                                  30240.0,
                                                  -1209600.0,
                                                  47900160.0,
                                                  -1.8924375803183791606e9,
                                                  7.47242496e10,
                                                  -2.950130727918164224e12,
                                                  1.1646782814350067249e14,
                                                  -4.5979787224074726105e15,
                                                  1.8152105401943546773e17,
                                                  -7.1661652561756670113e18};
constexpr int kFirstTerms = 10;  // number of terms that are summed one by one

XlaOp Series(XlaOp x, XlaOp q) {
  XlaOp sum = xla::Pow(q, -x), end = q, power = sum;
  for (int i = 1; i < kFirstTerms; ++i) {
    end = end + Scalar(end, 1);
    power = xla::Pow(end, -x);
    sum = sum + power;
  }
  sum = sum + power * end / (x - Scalar(x, 1)) - power * Scalar(power, 0.5);
  XlaOp factor = x, below = power / end;  // x (x + 1) … (x + 2k) and end^-(x + 2k + 1)
  for (int k = 0; k < static_cast<int>(kCoefficients.size()); ++k) {
    sum = sum + factor * below / Scalar(sum, kCoefficients[k]);
    factor = factor * (x + Scalar(x, 2 * k + 1)) * (x + Scalar(x, 2 * k + 2));
    below = below / (end * end);
  }
  // If the first term is infinite or the other terms are negligible, the first term is the sum.
  const XlaOp first = xla::Pow(q, -x);
  const XlaOp infinite = xla::Or(xla::Eq(x, Scalar(x, kInfinity)), xla::Eq(q, Scalar(q, kInfinity)));
  return xla::Select(xla::Or(xla::Eq(first, Scalar(first, kInfinity)), infinite), first, sum);
}

XlaOp HurwitzZeta(XlaOp x, XlaOp q, xla::PrimitiveType) {
  const XlaOp one = Scalar(x, 1), zero = xla::ZerosLike(q);
  const XlaOp whole = xla::Eq(x, xla::Floor(x));
  const XlaOp half = x * Scalar(x, 0.5);
  const XlaOp even = xla::And(whole, xla::Eq(half, xla::Floor(half)));
  const XlaOp at_pole = xla::And(xla::Le(q, zero), xla::Eq(q, xla::Floor(q)));
  XlaOp result = Series(x, q);
  result = NumberWhere(xla::And(xla::Le(q, zero), xla::Not(whole)), kNan, result);
  result = xla::Select(at_pole, NumberWhere(even, kInfinity, xla::FullLike(result, kNan)), result);
  result = NumberWhere(xla::Lt(x, one), kNan, result);
  return NumberWhere(xla::Eq(x, one), kInfinity, result);
}

XlaOp Polygamma(XlaOp n, XlaOp x, xla::PrimitiveType type) {
  const XlaOp next = n + Scalar(n, 1);
  XlaOp result = xla::Pow(Scalar(n, -1), next) * xla::Exp(xla::Lgamma(next)) * HurwitzZeta(next, x, type);
  result = xla::Select(xla::Eq(n, xla::ZerosLike(n)), xla::Digamma(x), result);
  return NumberWhere(xla::Or(xla::Lt(n, xla::ZerosLike(n)), xla::Ne(n, xla::Floor(n))), kNan, result);
}

REGISTER_XLA_OP(Name("Polygamma").Device(kCompilationDevice), PairLowering<Polygamma>)
REGISTER_XLA_OP(Name("Zeta").Device(kCompilationDevice), PairLowering<HurwitzZeta>)

}  // namespace
}  // namespace hpu
