// Elementwise functions of one operand.
#include <cmath>
#include <limits>

#include "plugin/testing/synapse_double/kernels/elementwise.h"
#include "plugin/testing/synapse_double/kernels/families.h"

namespace hpu::synapse_double {
namespace {

double Sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }  // keeps NaN and -0
int64_t Sign(int64_t x) { return (x > 0) - (x < 0); }
uint64_t Sign(uint64_t x) { return x > 0; }

double Absolute(double x) { return std::fabs(x); }
int64_t Absolute(int64_t x) { return x < 0 ? SubtractWrapped<int64_t>(0, x) : x; }
uint64_t Absolute(uint64_t x) { return x; }

// Newton's method from Winitzki's approximation.
double InverseErf(double y) {
  if (!(std::fabs(y) < 1)) {
    return std::fabs(y) == 1 ? std::copysign(std::numeric_limits<double>::infinity(), y)
                             : std::numeric_limits<double>::quiet_NaN();
  }
  if (y == 0) return y;
  const double a = 0.147;
  const double log = std::log1p(-y * y);
  const double half = 2 / (M_PI * a) + log / 2;
  double x = std::copysign(std::sqrt(std::sqrt(half * half - log / a) - half), y);
  for (int i = 0; i < 4; ++i) x -= (std::erf(x) - y) * std::exp(x * x) * std::sqrt(M_PI) / 2;
  return x;
}

double LogGamma(double x) {
  int sign;
  return lgamma_r(x, &sign);
}

template <double (*function)(double)>
void Compute(KernelContext& context) {
  ComputeFloatUnary(context, function);
}

double Ceil(double x) { return std::ceil(x); }
double Cos(double x) { return std::cos(x); }
double Erf(double x) { return std::erf(x); }
double Erfc(double x) { return std::erfc(x); }
double Exp(double x) { return std::exp(x); }
double Expm1(double x) { return std::expm1(x); }
double Floor(double x) { return std::floor(x); }
double Log(double x) { return std::log(x); }
double Log1p(double x) { return std::log1p(x); }
double RoundToEven(double x) { return RoundToInteger(x, RoundMode::kHalfToEven); }
double Rsqrt(double x) { return 1 / std::sqrt(x); }
double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double Sin(double x) { return std::sin(x); }
double Sinh(double x) { return std::sinh(x); }
double Sqrt(double x) { return std::sqrt(x); }
double Tan(double x) { return std::tan(x); }
double Tanh(double x) { return std::tanh(x); }

void Abs(KernelContext& context) {
  ComputeUnary(context, [](auto x) { return Absolute(x); });
}

void SignOf(KernelContext& context) {
  ComputeUnary(context, [](auto x) { return Sign(x); });
}

void Negate(KernelContext& context) {
  ComputeUnary(context, [](auto x) {
    if constexpr (std::is_integral_v<decltype(x)>) return SubtractWrapped<decltype(x)>(0, x);
    return -x;
  });
}

void Square(KernelContext& context) {
  ComputeUnary(context, [](auto x) { return MultiplyWrapped(x, x); });
}

void IsFinite(KernelContext& context) {
  ComputeUnary(context, [](auto x) { return int64_t{std::isfinite(static_cast<double>(x))}; });
}

}  // namespace

void AddUnary(KernelRegistry* registry) {
  const auto add = [&](const char* stem, Kernel kernel) {
    registry->Add({stem, Suffix::kType, {1, 1}, {1, 1}, {0}, kernel});
  };
  add("abs_fwd", Abs);
  add("ceil_fwd", Compute<Ceil>);
  add("cos_fwd", Compute<Cos>);
  add("erf_fwd", Compute<Erf>);
  add("erfc_fwd", Compute<Erfc>);
  add("erfinv_fwd", Compute<InverseErf>);
  add("exp_fwd", Compute<Exp>);
  add("expm1_fwd", Compute<Expm1>);
  add("floor_fwd", Compute<Floor>);
  add("gammaln_fwd", Compute<LogGamma>);
  add("isfinite_fwd", IsFinite);
  add("log1p_fwd", Compute<Log1p>);
  add("log_fwd", Compute<Log>);
  add("neg_fwd", Negate);
  add("pow2_fwd", Square);
  add("round_fwd", Compute<RoundToEven>);
  add("rsqrt_fwd", Compute<Rsqrt>);
  add("sigmoid_fwd", Compute<Sigmoid>);
  add("sign_fwd", SignOf);
  add("sin_fwd", Compute<Sin>);
  add("sinh_fwd", Compute<Sinh>);
  add("sqrt_fwd", Compute<Sqrt>);
  add("tan_fwd", Compute<Tan>);
  add("tanh_fwd", Compute<Tanh>);
}

}  // namespace hpu::synapse_double
