// Lowerings of special integrals: Dawson's, Fresnel and exponential integrals, and Spence's function.
#include <cstddef>
#include <limits>

#include "absl/types/span.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/lowerings/elementwise_lowering.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/math.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu {
namespace {

using xla::PrimitiveType;
using xla::XlaOp;

// Coefficients and formulas are from the Cephes library (S. L. Moshier). Names that end in "Over" are denominators.
constexpr double kDawsonNear[] = {
    1.1368149897175597e-11, 8.492622676674738e-10,  1.9443420417555306e-8, 9.531517412544844e-7, 3.078283098749132e-6,
    0.00035251336852028877, -0.0008501498467244109, 0.04226182230055466,   -0.09174803717734524, 1.0};
constexpr double kDawsonNearOver[] = {2.403720730667626e-11,
                                      1.488646813684934e-9,
                                      5.212652810105416e-8,
                                      1.2725847827318697e-6,
                                      2.324902498207895e-5,
                                      0.00032552474182605793,
                                      0.003488058146571626,
                                      0.027944853119882897,
                                      0.15887424196012057,
                                      0.5749186294893204,
                                      1.0};
constexpr double kDawsonMiddle[] = {0.5089551564179009,     -0.24475441814269785,   0.09415123353035344,
                                    -0.021871125514203903,  0.003662076123295692,   -0.0004232091144603888,
                                    3.5964130479389666e-5,  -2.1464035171996896e-6, 9.100107800763914e-8,
                                    -2.4027452082825098e-9, 3.592333854409284e-11};
constexpr double kDawsonMiddleOver[] = {1.0,
                                        -0.6318398698733682,
                                        0.2367067882282487,
                                        -0.053180636700322324,
                                        0.008480417185862954,
                                        -0.0009479967684866654,
                                        7.810255929445524e-5,
                                        -4.558751532524426e-6,
                                        1.8910035811142186e-7,
                                        -4.913246913319206e-9,
                                        7.184664032357345e-11};
constexpr double kDawsonFar[] = {-0.5905928605347732, 0.6292352427243688, -0.17285897538038814, 0.016483704782518965,
                                 -0.0004868276130204627};
constexpr double kDawsonFarOver[] = {
    1.0, -2.698200571975449, 1.7327079904594784, -0.3937085822819395, 0.03442789240412334, -0.0009736552260409412};
constexpr double kEiTo2[] = {-5.350447357812543, 218.50491688166133,  -4176.572384826693,
                             55411.76756393557,  -331338.13311781443, 1592627.1633849454};
constexpr double kEiTo2Over[] = {1.0,
                                 -52.505479591128626,
                                 1259.6161867867906,
                                 -17565.495819735348,
                                 149306.2117002726,
                                 -729494.9239640528,
                                 1592627.1633849454};
constexpr double kEiTo4[] = {0.019818085032596897, -1.2716456259849176,  -2.0881603356812284,    2.7555445091879367,
                             -0.44095070487016,    0.046656238059358916, -0.0015450426796734852, 7.059980605299618e-5};
constexpr double kEiTo4Over[] = {1.0,
                                 1.4764986709149215,
                                 0.5629177174822436,
                                 0.16990178978793072,
                                 0.02291647179034212,
                                 0.0044501504397287525,
                                 0.00017274396122065214,
                                 3.953167195549672e-5};
constexpr double kEiTo8[] = {-1.3732153758712087,  -0.7084559133740839,   1.580806855547941,    -0.2601500427425623,
                             0.029946746941137137, -0.001038086040188744, 4.371064420753005e-5, 2.141783679522603e-6};
constexpr double kEiTo8Over[] = {1.0,
                                 0.8585231423622028,
                                 0.4483285822873995,
                                 0.07687932158124476,
                                 0.024498682410218877,
                                 0.0008832165941927797,
                                 0.00045909522995113536,
                                 -4.729848351866523e-6,
                                 2.66519553739071e-6};
constexpr double kEiTo16[] = {
    -2.1069346016919166,   1.7327338696646881,    -0.2423619178935842,   0.02322724180937566,   0.00023728804404931798,
    -8.343219561192553e-5, 1.3634087956052505e-5, -3.655412321999254e-7, 1.4649417339759612e-8, 6.17640786371036e-10};
constexpr double kEiTo16Over[] = {1.0,
                                  -0.2298062239901678,
                                  0.11050770414740378,
                                  -0.015665429666307924,
                                  0.002761106850817353,
                                  -0.00020891480122840484,
                                  1.7085289388076754e-5,
                                  -4.4593117963566865e-7,
                                  1.3946349303538475e-8,
                                  6.150865933977338e-10};
constexpr double kEiTo32[] = {-0.24581193676740204, -0.14833822533220778,  0.07248291795735552,  -0.013483156873809405,
                              0.001342775069788637, -7.942465637159712e-5, 2.644179518984236e-6, -4.239473659313765e-8};
constexpr double kEiTo32Over[] = {1.0,
                                  -0.10442259084438711,
                                  -0.26764531281014026,
                                  0.09695000254621984,
                                  -0.01601745692712991,
                                  0.001496414899205908,
                                  -8.462452563778485e-5,
                                  2.7289384034767266e-6,
                                  -4.239462431819542e-8};
constexpr double kEiTo64[] = {0.12125611181054567,   -0.5823133179043894,   0.2348887314557017,
                              -0.030400343181132484, 0.0015100821468651906, -2.5231370954995714e-5};
constexpr double kEiTo64Over[] = {
    1.0, -1.002252150365854, 0.2928709694872224, -0.03337004338674008, 0.0015605448811273888, -2.5231370936032347e-5};
constexpr double kEiBeyond[] = {-0.7657847078286127,    0.6886192415566705,    -0.2132598113545206,
                                0.033461075523841935,   -0.003076541477344756, 0.00017471193164549074,
                                -6.1037116822741705e-6, 1.218032765428652e-7,  -1.0860761027932903e-9};
constexpr double kEiBeyondOver[] = {1.0,
                                    -1.8888028686623086,
                                    1.066691687211409,
                                    -0.27519159823063805,
                                    0.039308526882338234,
                                    -0.003414684558602365,
                                    0.00018668443707035555,
                                    -6.345146083130515e-6,
                                    1.239754287483207e-7,
                                    -1.0860761027931265e-9};
constexpr double kFresnelCosine[] = {-4.9884311457357354e-8, 9.504280628298596e-6, -0.0006451914356839651,
                                     0.018884331939670384,   -0.20552590095501388, 1.0};
constexpr double kFresnelCosineOver[] = {3.99982968972496e-12,
                                         9.154392157746574e-10,
                                         1.2500186247959882e-7,
                                         1.2226278902417902e-5,
                                         0.0008680295429417843,
                                         0.04121420907221998,
                                         1.0};
constexpr double kFresnelSine[] = {-2991.8191940101983, 708840.0452577386,  -62974148.62058625,
                                   2548908805.7337637,  -44297951805.96978, 318016297876.5678};
constexpr double kFresnelSineOver[] = {1.0,
                                       281.3762688899943,
                                       45584.78108065326,
                                       5173438.887700964,
                                       419320245.8981112,
                                       22441179564.534092,
                                       607366389490.0846};
constexpr double kFresnelF[] = {0.4215435550436775,     0.1434079197807589,     0.011522095507358577,
                                0.000345017939782574,   4.6361374928786735e-6,  3.055689837902576e-8,
                                1.0230451416490724e-10, 1.7201074326816183e-13, 1.3428327623306275e-16,
                                3.763297112699879e-20};
constexpr double kFresnelFOver[] = {1.0,
                                    0.7515863983533789,
                                    0.11688892585919138,
                                    0.0064405152650885865,
                                    0.00015593440916415301,
                                    1.8462756734893055e-6,
                                    1.1269922476399903e-8,
                                    3.6014002958937136e-11,
                                    5.887545336215784e-14,
                                    4.5200143407412973e-17,
                                    1.2544323709001127e-20};
constexpr double kFresnelG[] = {0.5044420736433832,     0.1971028335255234,     0.018764858409257526,
                                0.0006840793809153931,  1.1513882611188428e-5,  9.828524436884223e-8,
                                4.4534441586175015e-10, 1.0826804113902088e-12, 1.375554606332618e-15,
                                8.363544356306774e-19,  1.8695871016278324e-22};
constexpr double kFresnelGOver[] = {1.0,
                                    1.4749575992512833,
                                    0.33774898912002,
                                    0.02536037414203388,
                                    0.0008146791071843061,
                                    1.2754507566772912e-5,
                                    1.0431458965757199e-7,
                                    4.6068072814652043e-10,
                                    1.1027321506624028e-12,
                                    1.3879653125957886e-15,
                                    8.391588162831187e-19,
                                    1.8695871016278324e-22};
constexpr double kDilogarithm[] = {4.6512858607399003e-5, 0.007315890452380947, 0.13384763957830903, 0.8796913117545303,
                                   2.7114985119655346,    4.256971560081218,    3.297713409852251,   1.0};
constexpr double kDilogarithmOver[] = {
    0.0006909904889125533, 0.02540437639325444, 0.2829748606025681, 1.4117259775183106,
    3.6380053334513707,    5.03278880143317,    3.547713409852251,  1.0};
constexpr double kPi = 3.14159265358979324;

// A rational function for arguments below `limit`.
struct Interval {
  double limit;
  absl::Span<const double> over;
  absl::Span<const double> under;
};

XlaOp IsBelow(XlaOp x, double limit) { return xla::Lt(x, Scalar(x, limit)); }

// Evaluates, at `variable`, the quotient of the first interval that contains x. Uses the last interval for larger x.
XlaOp QuotientOf(XlaOp variable, XlaOp x, absl::Span<const Interval> intervals) {
  XlaOp over = Polynomial(variable, intervals.back().over);
  XlaOp under = Polynomial(variable, intervals.back().under);
  for (size_t i = intervals.size() - 1; i-- > 0;) {
    const XlaOp inside = IsBelow(x, intervals[i].limit);
    over = xla::Select(inside, Polynomial(variable, intervals[i].over), over);
    under = xla::Select(inside, Polynomial(variable, intervals[i].under), under);
  }
  return over / under;
}

XlaOp WithSignOf(XlaOp x, XlaOp magnitude) { return xla::Select(IsBelow(x, 0), -magnitude, magnitude); }

XlaOp Dawson(XlaOp x, PrimitiveType) {
  static constexpr Interval kIntervals[] = {{6.25, kDawsonMiddle, kDawsonMiddleOver},
                                            {1e9, kDawsonFar, kDawsonFarOver}};
  const XlaOp magnitude = xla::Abs(x), square = x * x, half = Scalar(x, 0.5);
  const XlaOp near = magnitude * Polynomial(square, kDawsonNear) / Polynomial(square, kDawsonNearOver);
  const XlaOp inverse = Scalar(x, 1) / magnitude, inverse_square = inverse * inverse;
  const XlaOp quotient = QuotientOf(inverse_square, magnitude, kIntervals);
  const XlaOp far = half * (inverse + inverse_square * inverse * quotient);
  // For x below -1e9, the result of TensorFlow's CPU kernel has the wrong sign.
  const XlaOp beyond = half / x;
  const XlaOp result = xla::Select(IsBelow(magnitude, 3.25), near, xla::Select(IsBelow(magnitude, 1e9), far, beyond));
  return WithSignOf(x, result);
}

XlaOp ExponentialIntegral(XlaOp x, PrimitiveType) {
  static constexpr Interval kIntervals[] = {{4, kEiTo4, kEiTo4Over},    {8, kEiTo8, kEiTo8Over},
                                            {16, kEiTo16, kEiTo16Over}, {32, kEiTo32, kEiTo32Over},
                                            {64, kEiTo64, kEiTo64Over}, {0, kEiBeyond, kEiBeyondOver}};
  constexpr double kEulersConstant = 0.577215664901532861;
  const XlaOp quotient = Polynomial(x, kEiTo2) / Polynomial(x, kEiTo2Over);
  const XlaOp near = x * quotient + Scalar(x, kEulersConstant) + xla::Log(x);
  const XlaOp inverse = Scalar(x, 1) / x;
  const XlaOp far = xla::Exp(x) * inverse * (inverse * QuotientOf(inverse, x, kIntervals) + Scalar(x, 1));
  return NumberWhere(IsBelow(x, 0), kNan, xla::Select(IsBelow(x, 2), near, far));
}

struct SineAndCosine {
  XlaOp sine;
  XlaOp cosine;
};

// Sine and cosine of `turns` right angles, `turns` >= 0. Multiples of right angles are removed first, so that the
// float32 polynomials are accurate.
SineAndCosine OfRightAngles(XlaOp turns, PrimitiveType type) {
  const XlaOp whole = xla::Floor(turns + Scalar(turns, 0.5));
  const XlaOp angle = (turns - whole) * Scalar(turns, kPi / 2);
  XlaOp sine, cosine;
  if (type == xla::F64) {
    sine = xla::Sin(angle);
    cosine = xla::Cos(angle);
  } else {
    const XlaOp z = angle * angle;
    sine = angle + angle * z * Polynomial(z, {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1});
    cosine = Scalar(z, 1) - Scalar(z, 0.5) * z +
             z * z * Polynomial(z, {2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2});
  }
  const XlaOp quadrant = whole - Scalar(whole, 4) * xla::Floor(Scalar(whole, 0.25) * whole);
  const auto is = [&](double number) { return xla::Eq(quadrant, Scalar(quadrant, number)); };
  const XlaOp odd = xla::Or(is(1), is(3));
  const XlaOp first = xla::Select(odd, cosine, sine), second = xla::Select(odd, sine, cosine);
  return {xla::Select(xla::Or(is(2), is(3)), -first, first), xla::Select(xla::Or(is(1), is(2)), -second, second)};
}

enum class Wave { kSine, kCosine };

// Requires x >= 0.
template <Wave wave>
XlaOp FresnelOfMagnitude(XlaOp x, PrimitiveType type) {
  const XlaOp square = x * x, fourth = square * square, one = Scalar(x, 1);
  const XlaOp near = wave == Wave::kSine
                         ? x * square * Polynomial(fourth, kFresnelSine) / Polynomial(fourth, kFresnelSineOver)
                         : x * Polynomial(fourth, kFresnelCosine) / Polynomial(fourth, kFresnelCosineOver);
  const XlaOp t = one / (Scalar(x, kPi) * square), u = t * t;
  const XlaOp f = one - u * (Polynomial(u, kFresnelF) / Polynomial(u, kFresnelFOver));
  const XlaOp g = t * Polynomial(u, kFresnelG) / Polynomial(u, kFresnelGOver);
  const SineAndCosine of = OfRightAngles(square, type);
  const XlaOp ripple = wave == Wave::kSine ? -(f * of.cosine + g * of.sine) : f * of.sine - g * of.cosine;
  const XlaOp far = Scalar(x, 0.5) + ripple / (Scalar(x, kPi) * x);
  return NumberWhere(xla::Gt(x, Scalar(x, 36974)), 0.5, xla::Select(IsBelow(square, 2.5625), near, far));
}

template <Wave wave>
XlaOp Fresnel(XlaOp x, PrimitiveType type) {
  return WithSignOf(x, FresnelOfMagnitude<wave>(xla::Abs(x), type));
}

XlaOp Spence(XlaOp x, PrimitiveType) {
  const XlaOp one = Scalar(x, 1), half = Scalar(x, 0.5), limit = Scalar(x, kPi * kPi / 6);
  const XlaOp y = xla::Select(IsBelow(x, 2), x, one / x), small = xla::Lt(y, half);
  const XlaOp w = xla::Select(xla::Gt(y, Scalar(y, 1.5)), one / y - one, xla::Select(small, -y, y - one));
  const XlaOp log = xla::Log(y);
  XlaOp sum = -w * (Polynomial(w, kDilogarithm) / Polynomial(w, kDilogarithmOver));
  sum = xla::Select(small, limit - log * xla::Log1p(-y) - sum, sum);
  sum = xla::Select(xla::Gt(x, Scalar(x, 1.5)), -half * log * log - sum, sum);
  sum = NumberWhere(xla::Eq(x, xla::ZerosLike(x)), kPi * kPi / 6, sum);
  sum = NumberWhere(xla::Eq(x, one), 0, sum);
  return NumberWhere(IsBelow(x, 0), kNan, sum);
}

REGISTER_XLA_OP(Name("Dawsn").Device(kCompilationDevice), ElementwiseLowering<Dawson>)
REGISTER_XLA_OP(Name("Expint").Device(kCompilationDevice), ElementwiseLowering<ExponentialIntegral>)
REGISTER_XLA_OP(Name("FresnelCos").Device(kCompilationDevice), ElementwiseLowering<Fresnel<Wave::kCosine>>)
REGISTER_XLA_OP(Name("FresnelSin").Device(kCompilationDevice), ElementwiseLowering<Fresnel<Wave::kSine>>)
REGISTER_XLA_OP(Name("Spence").Device(kCompilationDevice), ElementwiseLowering<Spence>)

}  // namespace
}  // namespace hpu
