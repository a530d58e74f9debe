// Lowerings of the Bessel functions J, Y and K of orders 0 and 1, which tf2xla lacks.
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

// Coefficients and formulas are from the Cephes library (S. L. Moshier). Names that end in f are for float32; names
// that end in "Over" are denominators.
constexpr double kSmallJ0f[] = {-6.0683504e-8, 6.3889456e-6, -0.00039696464, 0.013329134, -0.17291507};
constexpr double kSmallY0f[] = {9.454584e-8, -9.413213e-6, 0.00053444866, -0.015842892, 0.17075847};
constexpr double kModulus0f[] = {-0.06839,      0.18649493,   -0.21450076,   0.11975494,
                                 -0.0035602818, -0.049693827, -3.3554247e-6, 0.7978846};
constexpr double kPhase0f[] = {32.420776, -36.305927,  17.562214,   -4.9749784,
                               1.0019734, -0.19399069, 0.064905986, -0.12499922};
constexpr double kSmallJ0[] = {-4794432209.782018, 1956174919465.5657, -249248344360967.72, 9708622510473064.0};
constexpr double kSmallJ0Over[] = {1.0,
                                   499.563147152651,
                                   173785.4016763747,
                                   48440965.83399621,
                                   11185553704.535683,
                                   2112775201154.892,
                                   310518229857422.56,
                                   3.1812195594320496e+16,
                                   1.7108629408104315e+18};
constexpr double kSmallY0[] = {15592.436785523574,     -14663929.59039716,     5435264770.518765,
                               -982136065717.9115,     87590639439536.7,       -3466283033847297.0,
                               4.4273326857256984e+16, -1.8495080043698668e+16};
constexpr double kSmallY0Over[] = {1.0,
                                   1041.2835366425984,
                                   626107.330137135,
                                   268919633.39381415,
                                   86400248710.3935,
                                   20297961275010.555,
                                   3171577528429750.5,
                                   2.5059625617265306e+17};
constexpr double kHankelP0[] = {0.0007969367292973471,
                                0.08283523921074408,
                                1.239533716464143,
                                5.447250030587687,
                                8.74716500199817,
                                5.303240382353949,
                                1.0};
constexpr double kHankelP0Over[] = {0.0009244088105588637,
                                    0.08562884743544745,
                                    1.2535274390105895,
                                    5.470977403304171,
                                    8.761908832370695,
                                    5.306052882353947,
                                    1.0};
constexpr double kHankelQ0[] = {-0.011366383889846916, -1.2825271867050931, -19.553954425773597, -93.20601521237683,
                                -177.68116798048806,   -147.07750515495118, -51.41053267665993,  -6.050143506007285};
constexpr double kHankelQ0Over[] = {1.0,
                                    64.3178256118178,
                                    856.4300259769806,
                                    3882.4018360540163,
                                    7240.467741956525,
                                    5930.727011873169,
                                    2062.0933166032783,
                                    242.0057402402914};
constexpr double kNearK0[] = {1.374465435613523e-16, 4.25981614279661e-14, 1.0349695257633842e-11, 1.904516377220209e-9,
                              2.5347910790261494e-7, 2.286212103119452e-5, 0.001264615411446926,   0.0359799365153615,
                              0.3442898999246285,    -0.5353273932339028};
constexpr double kFarK0[] = {
    5.300433772686263e-18,  -1.6475804301524212e-17, 5.2103915050390274e-17, -1.678231096805412e-16,
    5.512055978524319e-16,  -1.848593377343779e-15,  6.3400764774050706e-15, -2.2275133269916698e-14,
    8.032890775363575e-14,  -2.9800969231727303e-13, 1.140340588208475e-12,  -4.514597883373944e-12,
    1.8559491149547177e-11, -7.957489244477107e-11,  3.577397281400301e-10,  -1.69753450938906e-9,
    8.574034017414225e-9,   -4.660489897687948e-8,   2.766813639445015e-7,   -1.8317555227191195e-6,
    1.39498137188765e-5,    -0.00012849549581627802, 0.0015698838857300533,  -0.0314481013119645,
    2.4403030820659555};
constexpr double kSmallJ1f[] = {-4.878788e-9, 6.0090616e-7, -4.541344e-5, 0.0019373839, -0.034055375};
constexpr double kSmallY1f[] = {8.061979e-9, -9.4964605e-7, 6.719544e-5, -0.0026417857, 0.0420237};
constexpr double kModulus1f[] = {0.06913943,  -0.22848015, 0.31382385,   -0.21023025,
                                 0.005435365, 0.14933896,  4.9760297e-6, 0.7978845};
constexpr double kPhase1f[] = {-44.970142, 50.734657,  -24.85774,   7.2229733,
                               -1.5448428, 0.35037878, -0.16379867, 0.37499896};
constexpr double kSmallJ1[] = {-899971225.7055594, 452228297998.19403, -72749424522181.83, 3682957328638529.0};
constexpr double kSmallJ1Over[] = {1.0,
                                   620.8364781180543,
                                   256987.25675774884,
                                   83514679.14319493,
                                   22151159547.97925,
                                   4749141220799.914,
                                   784369607876235.9,
                                   8.952223361846274e+16,
                                   5.322786203326801e+18};
constexpr double kSmallY1[] = {1263204747.9017804,  -647355876379.1603,    114509511541823.73,
                               -8127702555013251.0, 2.024394757135949e+17, -7.788771962659501e+17};
constexpr double kSmallY1Over[] = {1.0,
                                   594.3015923461282,
                                   235564.09294306856,
                                   73481194.44597217,
                                   18760131610.870617,
                                   3882312774962.3857,
                                   620557727146953.8,
                                   6.871410873553005e+16,
                                   3.9727060811656064e+18};
constexpr double kHankelP1[] = {0.0007621256162081731,
                                0.07313970569409176,
                                1.1271960812968493,
                                5.112079511468076,
                                8.424045901417724,
                                5.214515986823615,
                                1.0};
constexpr double kHankelP1Over[] = {0.0005713231280725487,
                                    0.06884559087544954,
                                    1.105142326340617,
                                    5.073863861286015,
                                    8.399855543276042,
                                    5.209828486823619,
                                    1.0};
constexpr double kHankelQ1[] = {0.05108625947501766, 4.982138729512334, 75.82382841325453,  366.7796093601508,
                                710.8563049989261,   597.4896124006136, 211.68875710057213, 25.207020585802372};
constexpr double kHankelQ1Over[] = {1.0,
                                    74.23732770356752,
                                    1056.4488603826283,
                                    4986.410583376536,
                                    9562.318924047562,
                                    7997.041604473507,
                                    2826.1927851763908,
                                    336.0936078106983};
constexpr double kNearK1[] = {-7.023863479386288e-18,  -2.427449850519366e-15, -6.666901694199329e-13,
                              -1.4114883926335278e-10, -2.213387630734726e-8,  -2.4334061415659684e-6,
                              -0.0001730288957513052,  -0.006975723859639864,  -0.12261118082265715,
                              -0.3531559607765449,     1.5253002273389478};
constexpr double kFarK1[] = {
    -5.756744483665017e-18,  1.7940508731475592e-17, -5.689462558442859e-17,  1.838093544366639e-16,
    -6.057047248373319e-16,  2.038703165624334e-15,  -7.019837090418314e-15,  2.4771544244813043e-14,
    -8.976705182324994e-14,  3.3484196660784293e-13, -1.2891739609510289e-12, 5.13963967348173e-12,
    -2.1299678384275683e-11, 9.218315187605006e-11,  -4.1903547593418965e-10, 2.015049755197033e-9,
    -1.0345762465678097e-8,  5.7410841254500495e-8,  -3.5019606030878126e-7,  2.406484947837217e-6,
    -1.936197974166083e-5,   0.00019521551847135162, -0.002857816859622779,   0.10392373657681724,
    2.7206261904844427};
constexpr double kTwoOverPi = 0.636619772367581343;
constexpr double kRootOfTwoOverPi = 0.797884560802865356;

// Coefficients and zeros for the functions of one order.
struct OrderConstants {
  double phase;      // far from 0, J oscillates like cos(x - phase)
  double zeros[2];   // squares of J's first two positive zeros; float32 uses the first only
  double zero_of_y;  // square of the first zero of `smooth` in BesselY, for float32
  absl::Span<const double> small_jf, small_yf, modulus, phases;
  absl::Span<const double> small_j, small_j_over, small_y, small_y_over;
  absl::Span<const double> hankel_p, hankel_p_over, hankel_q, hankel_q_over;
  absl::Span<const double> near_k, far_k;
};
constexpr OrderConstants kOrder0 = {0.785398163397448310,
                                    {5.78318596294678452, 30.4712623436620864},
                                    0.432214556865108348,
                                    kSmallJ0f,
                                    kSmallY0f,
                                    kModulus0f,
                                    kPhase0f,
                                    kSmallJ0,
                                    kSmallJ0Over,
                                    kSmallY0,
                                    kSmallY0Over,
                                    kHankelP0,
                                    kHankelP0Over,
                                    kHankelQ0,
                                    kHankelQ0Over,
                                    kNearK0,
                                    kFarK0};
constexpr OrderConstants kOrder1 = {2.35619449019234493,
                                    {14.6819706421238933, 49.2184563216946037},
                                    4.66539330185668858,
                                    kSmallJ1f,
                                    kSmallY1f,
                                    kModulus1f,
                                    kPhase1f,
                                    kSmallJ1,
                                    kSmallJ1Over,
                                    kSmallY1,
                                    kSmallY1Over,
                                    kHankelP1,
                                    kHankelP1Over,
                                    kHankelQ1,
                                    kHankelQ1Over,
                                    kNearK1,
                                    kFarK1};

constexpr const OrderConstants& ConstantsOf(int order) { return order == 0 ? kOrder0 : kOrder1; }

// Upper limit for the approximations of J and Y around 0.
double NearLimit(PrimitiveType type) { return type == xla::F64 ? 5.0 : 2.0; }

// J for |x| up to NearLimit. Order 0 requires x >= 0.
template <int order>
XlaOp NearJ(XlaOp x, PrimitiveType type) {
  const OrderConstants& o = ConstantsOf(order);
  const XlaOp z = x * x;
  XlaOp j = z - Scalar(z, o.zeros[0]);
  if (type == xla::F64) {
    j = j * (z - Scalar(z, o.zeros[1])) * Polynomial(z, o.small_j) / Polynomial(z, o.small_j_over);
  } else {
    j = j * Polynomial(z, o.small_jf);
  }
  if (order == 1) return j * x;
  // The result is exactly 1 at 0.
  const XlaOp tiny = xla::Lt(x, Scalar(x, type == xla::F64 ? 1e-5 : 1e-3));
  return xla::Select(tiny, Scalar(z, 1) - Scalar(z, 0.25) * z, j);
}

enum class Kind { kFirst, kSecond };

// J or Y for x >= NearLimit.
template <int order, Kind kind>
XlaOp Far(XlaOp x, PrimitiveType type) {
  const OrderConstants& o = ConstantsOf(order);
  // Smaller x would lead to large angles, for which cosine and sine are slower.
  const XlaOp limit = xla::FullLike(x, NearLimit(type));
  x = xla::Select(xla::Lt(x, limit), limit, x);
  const XlaOp inverse = Scalar(x, 1) / x;
  if (type != xla::F64) {
    const XlaOp correction = inverse * Polynomial(inverse * inverse, o.phases);
    const XlaOp angle = correction - Scalar(x, o.phase) + x;
    const XlaOp wave = kind == Kind::kFirst ? xla::Cos(angle) : xla::Sin(angle);
    return xla::Rsqrt(x) * Polynomial(inverse, o.modulus) * wave;
  }
  // Hankel's expansion.
  const XlaOp s = Scalar(x, 25) / (x * x);
  const XlaOp p = Polynomial(s, o.hankel_p) / Polynomial(s, o.hankel_p_over);
  const XlaOp q = Scalar(x, 5) * inverse * Polynomial(s, o.hankel_q) / Polynomial(s, o.hankel_q_over);
  const XlaOp angle = x - Scalar(x, o.phase);
  const XlaOp sine = xla::Sin(angle), cosine = xla::Cos(angle);
  const XlaOp wave = kind == Kind::kFirst ? p * cosine - q * sine : p * sine + q * cosine;
  return wave * Scalar(x, kRootOfTwoOverPi) * xla::Rsqrt(x);
}

// False for NaN.
XlaOp IsNear(XlaOp x, double limit) { return xla::Le(x, Scalar(x, limit)); }

template <int order>
XlaOp BesselJ(XlaOp x, PrimitiveType type) {
  const XlaOp magnitude = xla::Abs(x);
  XlaOp far = Far<order, Kind::kFirst>(magnitude, type);
  if (order == 1) far = xla::Select(xla::Lt(x, xla::ZerosLike(x)), -far, far);
  const XlaOp near = NearJ<order>(order == 1 ? x : magnitude, type);
  return xla::Select(IsNear(magnitude, NearLimit(type)), near, far);
}

template <int order>
XlaOp BesselY(XlaOp x, PrimitiveType type) {
  const OrderConstants& o = ConstantsOf(order);
  const XlaOp z = x * x, zero = xla::ZerosLike(x);
  XlaOp smooth = type == xla::F64 ? Polynomial(z, o.small_y) / Polynomial(z, o.small_y_over)
                                  : (z - Scalar(z, o.zero_of_y)) * Polynomial(z, o.small_yf);
  XlaOp rough = xla::Log(x) * NearJ<order>(x, type);
  if (order == 1) {
    smooth = smooth * x;
    rough = rough - Scalar(x, 1) / x;
  }
  XlaOp near = smooth + Scalar(x, kTwoOverPi) * rough;
  // TensorFlow's CPU kernel returns NaN for Y1(0) in float32.
  const bool of_zero = order == 0 || type == xla::F64;
  near = NumberWhere(of_zero ? xla::Le(x, zero) : xla::Lt(x, zero), -kInfinity, near);
  return xla::Select(IsNear(x, NearLimit(type)), near, Far<order, Kind::kSecond>(x, type));
}

// The modified function of the first kind from 0 to 2, by its power series in (x / 2)².
template <int order>
XlaOp NearI(XlaOp x, PrimitiveType type) {
  const XlaOp half = Scalar(x, 0.5) * x, square = half * half;
  XlaOp sum = xla::FullLike(x, 1);
  for (int i = type == xla::F64 ? 12 : 8; i > 0; --i) {
    sum = Scalar(x, 1) + square * sum * Scalar(x, 1.0 / (i * (i + order)));
  }
  return order == 0 ? sum : half * sum;
}

// The last `of_floats` coefficients of a float64 series form the float32 series.
absl::Span<const double> OfType(absl::Span<const double> coefficients, size_t of_floats, PrimitiveType type) {
  return type == xla::F64 ? coefficients : coefficients.last(of_floats);
}

template <int order, bool scaled>
XlaOp BesselK(XlaOp x, PrimitiveType type) {
  const OrderConstants& o = ConstantsOf(order);
  XlaOp near = ChebyshevSum(x * x - Scalar(x, 2), OfType(o.near_k, 7, type));
  const XlaOp log = xla::Log(Scalar(x, 0.5) * x), i = NearI<order>(x, type);
  near = order == 0 ? near - i * log : near / x + i * log;
  if (scaled) near = near * xla::Exp(x);
  near = NumberWhere(xla::Le(x, xla::ZerosLike(x)), kInfinity, near);
  XlaOp far = ChebyshevSum(Scalar(x, 8) / x - Scalar(x, 2), OfType(o.far_k, 10, type)) * xla::Rsqrt(x);
  if (!scaled) far = far * xla::Exp(-x);
  return xla::Select(IsNear(x, 2), near, far);
}

REGISTER_XLA_OP(Name("BesselJ0").Device(kCompilationDevice), ElementwiseLowering<BesselJ<0>>)
REGISTER_XLA_OP(Name("BesselJ1").Device(kCompilationDevice), ElementwiseLowering<BesselJ<1>>)
REGISTER_XLA_OP(Name("BesselY0").Device(kCompilationDevice), ElementwiseLowering<BesselY<0>>)
REGISTER_XLA_OP(Name("BesselY1").Device(kCompilationDevice), ElementwiseLowering<BesselY<1>>)
REGISTER_XLA_OP(Name("BesselK0").Device(kCompilationDevice), ElementwiseLowering<(BesselK<0, false>)>)
REGISTER_XLA_OP(Name("BesselK1").Device(kCompilationDevice), ElementwiseLowering<(BesselK<1, false>)>)
REGISTER_XLA_OP(Name("BesselK0e").Device(kCompilationDevice), ElementwiseLowering<(BesselK<0, true>)>)
REGISTER_XLA_OP(Name("BesselK1e").Device(kCompilationDevice), ElementwiseLowering<(BesselK<1, true>)>)

}  // namespace
}  // namespace hpu
