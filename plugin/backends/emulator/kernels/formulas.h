// Elementary functions of float32 without branches, so that loops over them are vectorised. Each differs from the exact
// value by at most 3 ULP; infinities, NaN and signs of zeros are exact too. Denormals may count as zeros.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_FORMULAS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_FORMULAS_H_

#include <cstdint>
#include <cstring>
#include <limits>

#include "plugin/backends/emulator/kernels/vectorize.h"

namespace hpu::emulator {

template <typename To, typename From>
HPU_INLINE To BitsAs(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

constexpr uint32_t kSignBit = 0x80000000u;

HPU_INLINE float Magnitude(float x) { return BitsAs<float>(BitsAs<uint32_t>(x) & ~kSignBit); }
HPU_INLINE uint32_t SignOf(float x) { return BitsAs<uint32_t>(x) & kSignBit; }
HPU_INLINE float WithSignChanged(float x, uint32_t sign) { return BitsAs<float>(BitsAs<uint32_t>(x) ^ sign); }

// c[0] + c[1] x + c[2] x² + …. Coefficients in this file are from minimax approximations unless another source is
// named.
template <typename T>
HPU_INLINE T Polynomial(T x, double c) {
  return static_cast<T>(c);
}

template <typename T, typename... More>
HPU_INLINE T Polynomial(T x, double c, More... more) {
  return Polynomial(x, more...) * x + static_cast<T>(c);
}

// e^x for x <= 0 and NaN; 0 where the result would be denormal.
HPU_INLINE float Exp(float x) {
  constexpr float kMin = -87.336544f;  // the logarithm of 2^-126
  constexpr float kLog2E = 1.44269504f, kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  // Adding kRound rounds a number to the nearest integer, which is in the lowest bits of the sum.
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23
  const float bounded = x < kMin ? kMin : x;
  const float shifted = bounded * kLog2E + kRound;
  const float n = shifted - kRound;
  const float r = (bounded - n * kLn2High) - n * kLn2Low;
  // e^r on [-ln 2 / 2, ln 2 / 2]: the minimax polynomial of the Cephes library.
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  // The shift drops the bits of kRound.
  const float power = BitsAs<float>((BitsAs<uint32_t>(shifted) + 127u) << 23);
  const float result = p * power;
  return x < kMin ? 0.0f : result;
}

// log(1 + x) for x from 0 to 1, and NaN.
HPU_INLINE float LogOfOneAnd(float x) {
  const float s = x / (2.0f + x), w = s * s;
  const float p = Polynomial(w, 0.33333337810960956, 0.1999943887315773, 0.1430844236982597, 0.10713829126148851,
                             0.12150466871576088);
  return 2.0f * (s + s * (w * p));
}

// An angle reduced by multiples of a right angle, to between -45° and 45°.
struct ReducedAngle {
  double rest;
  uint32_t right_angles;  // modulo 2^32
};

// From this magnitude on, the reduction needs more digits of pi than ReduceAngle has.
constexpr float kLargeAngle = 1048576.0f;  // 2^20

HPU_INLINE ReducedAngle ReduceAngle(float x) {
  // kHigh has 33 bits, so its products with integers of up to 20 bits are exact.
  constexpr double kTwoOverPi = 0.63661977236758134, kHigh = 0x1.921fb544p+0, kLow = 0x1.0b4611a626331p-34;
  constexpr double kRound = 0x1.8p52;
  const double shifted = x * kTwoOverPi + kRound;
  const double n = shifted - kRound;
  return {(x - n * kHigh) - n * kLow, static_cast<uint32_t>(BitsAs<uint64_t>(shifted))};
}

// Like ReduceAngle, for magnitudes of at least kLargeAngle; returns NaN for infinities and NaN. Not vectorisable.
inline ReducedAngle ReduceLargeAngle(float x) {
  using Wide = unsigned __int128;
  // The binary digits of 2 / pi.
  static constexpr uint64_t kTwoOverPi[] = {0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
                                            0xfe5163abdebbc561};
  const uint32_t bits = BitsAs<uint32_t>(x), biased = bits >> 23 & 0xff;
  if (biased == 0xff) return {std::numeric_limits<double>::quiet_NaN(), 0};
  // |x| = mantissa * 2^exponent. The digits of 2 / pi before digit `first` contribute multiples of four right angles,
  // which are dropped. The next 128 digits, as an integer, times the mantissa are right angles in units of 2^-126.
  const uint32_t mantissa = (bits & 0x7fffff) | 0x800000, exponent = biased - 150;
  // Negative for exponents below 2: digits before the binary point are 0.
  const int first = static_cast<int>(exponent) - 2;
  const auto word = [](int i) { return i < 0 || i >= 4 ? uint64_t{0} : kTwoOverPi[i]; };
  const int index = first >= 0 ? first / 64 : -1, shift = first - 64 * index;
  Wide window = Wide{word(index)} << 64 | word(index + 1);
  if (shift != 0) window = window << shift | word(index + 2) >> (64 - shift);
  const Wide product = window * mantissa;
  const uint32_t right_angles = static_cast<uint32_t>((product + (Wide{1} << 125)) >> 126);
  const auto rest = static_cast<__int128>(product - (Wide{right_angles} << 126));
  const double angle = static_cast<double>(rest) * 0x1p-126 * 1.5707963267948966;
  return bits & kSignBit ? ReducedAngle{-angle, 0u - right_angles} : ReducedAngle{angle, right_angles};
}

// For angles between -45° and 45°.
template <typename T>
HPU_INLINE T SmallSine(T x) {
  const T z = x * x;
  return x + x * (z * Polynomial(z, -0.16666666640797057, 0.008333329304843394, -0.0001983931226971629,
                                 2.7181216301684784e-06));
}

template <typename T>
HPU_INLINE T SmallCosine(T x) {
  const T z = x * x;
  const T p = Polynomial(z, 0.041666645682974075, -0.0013887316254292438, 2.4433157051442185e-05);
  return T{1} - (T{0.5} * z - z * z * p);
}

HPU_INLINE float SineOf(ReducedAngle angle, uint32_t right_angles) {
  const float rest = static_cast<float>(angle.rest);
  const float sine = SmallSine(rest), cosine = SmallCosine(rest);
  return WithSignChanged((right_angles & 1) != 0 ? cosine : sine, (right_angles & 2) << 30);
}

// Functions of an angle x; `angle` is x after the reduction.
struct Sine {
  static HPU_INLINE float Of(float x, ReducedAngle angle) {
    const float sine = SineOf(angle, angle.right_angles);
    return x == 0.0f ? x : sine;
  }
};

struct Cosine {
  static HPU_INLINE float Of(float x, ReducedAngle angle) { return SineOf(angle, angle.right_angles + 1); }
};

struct Tangent {
  static HPU_INLINE float Of(float x, ReducedAngle angle) {
    const double sine = SmallSine(angle.rest), cosine = SmallCosine(angle.rest);
    const bool odd = (angle.right_angles & 1) != 0;
    const double numerator = odd ? -cosine : sine, denominator = odd ? sine : cosine;
    const float tangent = static_cast<float>(numerator / denominator);
    return x == 0.0f ? x : tangent;
  }
};

struct ArcSine {
  static HPU_INLINE float Of(float x) {
    const float angle = OfMagnitude(Magnitude(x));
    return WithSignChanged(angle, SignOf(x));
  }

  // The arcsine of s, for s up to 1/2 and z = s².
  static HPU_INLINE float Small(float s, float z) {
    return s + s * (z * Polynomial(z, 0.16666754131421063, 0.07495232663966536, 0.04547834360176371,
                                   0.024140986482351696, 0.042230551655148704));
  }

 private:
  static HPU_INLINE float OfMagnitude(float x) {
    const bool large = x > 0.5f;
    const float half = 0.5f - 0.5f * x, square = x * x;
    const float z = large ? half : square;
    const float root = __builtin_sqrtf(half);
    const float small = Small(large ? root : x, z);
    const float from_right_angle = 1.57079637f - (2.0f * small + 4.37113883e-8f);
    return large ? from_right_angle : small;
  }
};

struct ArcCosine {
  static HPU_INLINE float Of(float x) {
    const float magnitude = Magnitude(x);
    const bool large = magnitude > 0.5f, negative = x < 0.0f;
    const float half = 0.5f - 0.5f * magnitude, square = x * x;
    const float z = large ? half : square;
    const float root = __builtin_sqrtf(half);
    const float small = ArcSine::Small(large ? root : magnitude, z);
    // pi and pi / 2 are sums of two constants, for precision.
    const float doubled = 2.0f * small;
    const float of_large = negative ? 3.14159274f - (doubled + 8.74227766e-8f) : doubled;
    const float signed_small = negative ? -small : small;
    const float of_small = 1.57079637f - (signed_small + 4.37113883e-8f);
    return large ? of_large : of_small;
  }
};

// The angle of the point (x, y).
struct ArcTangent2 {
  static HPU_INLINE float Of(float y, float x) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    constexpr float kEighthHigh = 0x1.921fbp-1, kEighthLow = 0x1.5110b4p-23;  // 1/8 of a turn
    const float a = Magnitude(y), b = Magnitude(x);
    const bool steep = a > b;
    const float greater = steep ? a : b, less = steep ? b : a;
    // Scales the operands so that sums of large numbers stay finite and differences of small numbers stay normal.
    const float scale_of_small = greater < 0x1p-64f ? 0x1p64f : 1.0f;
    const float scale = greater > 0x1p126f ? 0.25f : scale_of_small;
    const float scaled_greater = greater * scale, scaled_less = less * scale;
    const float one_if_infinite = less == kInfinity ? 1.0f : 0.0f;
    const bool infinite = greater == kInfinity, zero = greater == 0.0f;
    const float opposite = infinite ? one_if_infinite : scaled_less;
    const float adjacent = infinite | zero ? 1.0f : scaled_greater;
    // tan(u - 45°) = (tan u - 1) / (tan u + 1).
    const bool large = opposite > 0.414213568f * adjacent;
    const float numerator = large ? opposite - adjacent : opposite;
    const float denominator = large ? opposite + adjacent : adjacent;
    const float q = numerator / denominator, z = q * q;
    const float small = q + q * (z * Polynomial(z, -0.3333331549709488, 0.19998488893884614, -0.14243837762681488,
                                                0.10595915517968908, -0.06083223904230411));
    // The angle is `eighths` eighths of a turn plus `rest`.
    const float of_octant = large ? 1.0f : 0.0f;
    const float of_quadrant = steep ? 2.0f - of_octant : of_octant;
    const uint32_t sign = SignOf(x);
    const float eighths = sign != 0 ? 4.0f - of_quadrant : of_quadrant;
    const float rest = WithSignChanged(small, steep ? sign ^ kSignBit : sign);
    const float angle = eighths * kEighthHigh + (eighths * kEighthLow + rest);
    const float with_sign = WithSignChanged(angle, SignOf(y));
    return (x != x) | (y != y) ? x + y : with_sign;
  }
};

// x^y.
struct Power {
  static HPU_INLINE float Of(float x, float y) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const float a = Magnitude(x), b = Magnitude(y);
    const float magnitude = OfMagnitude(a, y);
    // Whether y is an integer, and odd. From 2^24 on, all numbers are even integers. Below 2^23, adding 2^23 leaves the
    // integer in the lowest bits.
    const float shifted = b + 0x1p23f;
    const bool integer = (b >= 0x1p23f) | (shifted - 0x1p23f == b);
    const uint32_t bits = b >= 0x1p23f ? BitsAs<uint32_t>(b) : BitsAs<uint32_t>(shifted);
    const uint32_t sign_if_odd = integer & (b < 0x1p24f) ? bits << 31 : 0u;
    const float with_sign = WithSignChanged(magnitude, SignOf(x) & sign_if_odd);
    const bool undefined = (x < 0.0f) & !integer & (a != kInfinity);
    const float result = undefined ? std::numeric_limits<float>::quiet_NaN() : with_sign;
    const bool one = (y == 0.0f) | (x == 1.0f) | ((x == -1.0f) & (b == kInfinity));
    return one ? 1.0f : result;
  }

 private:
  // 2^(y log2 x) in double precision, for x >= 0.
  static HPU_INLINE float OfMagnitude(float x, float y) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kTwoOverLn2 = 2.8853900817779268, kRound = 0x1.8p52;
    constexpr uint32_t kRootOfHalf = 0x3f3504f3u;
    const uint32_t bits = BitsAs<uint32_t>(x) - kRootOfHalf;
    const double exponent = static_cast<int32_t>(bits) >> 23;
    const double m = BitsAs<float>((bits & 0x7fffffu) + kRootOfHalf);
    const double s = (m - 1.0) / (m + 1.0), w = s * s;
    const double p = Polynomial(w, 0.33333332822520384, 0.20000167646795877, 0.14268650762544638, 0.11791146517332664);
    const double finite = exponent + kTwoOverLn2 * (s + s * (w * p));
    const double of_zero = x == 0.0f ? -kInfinity : finite;
    const double log2 = x < std::numeric_limits<float>::infinity() ? of_zero : static_cast<double>(x);
    const double t = y * log2;
    const double not_less = t < -300.0 ? -300.0 : t;
    const double bounded = not_less > 300.0 ? 300.0 : not_less;
    const double shifted = bounded + kRound;
    const double f = bounded - (shifted - kRound);
    const double q = Polynomial(f, 1.0, 0.6931472062482719, 0.2402265134591584, 0.0555032779115037, 0.00961800389001882,
                                0.0013400269670697195, 0.00015476300183146373);
    return static_cast<float>(q * BitsAs<double>((BitsAs<uint64_t>(shifted) + 1023) << 52));
  }
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_FORMULAS_H_
