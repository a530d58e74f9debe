#include "plugin/testing/synapse_double/kernels/element_type.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>

namespace hpu::synapse_double {
namespace {

struct TypeName {
  ElementType type;
  const char* suffix;
};

constexpr TypeName kTypes[] = {
    {ElementType::kI8, "i8"},   {ElementType::kBf16, "bf16"}, {ElementType::kF32, "f32"}, {ElementType::kI16, "i16"},
    {ElementType::kI32, "i32"}, {ElementType::kU8, "u8"},     {ElementType::kF16, "f16"}, {ElementType::kU16, "u16"},
    {ElementType::kU32, "u32"}, {ElementType::kI64, "i64"},   {ElementType::kU64, "u64"},
};

// Parameters of a binary float format.
struct FloatFormat {
  int fraction_bits;
  int min_exponent;  // of normal values
  double max;
};

FloatFormat FormatOf(ElementType type) {
  if (type == ElementType::kF16) return {10, -14, 65504};
  if (type == ElementType::kBf16) return {7, -126, std::ldexp(255, 120)};
  return {23, -126, FLT_MAX};
}

template <typename T>
T Read(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T>
void Write(T value, void* to) {
  std::memcpy(to, &value, sizeof(T));
}

double Bf16ToDouble(uint16_t bits) {
  float value;
  const uint32_t wide = uint32_t{bits} << 16;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

uint16_t DoubleToBf16(double value) {
  if (std::isnan(value)) return std::signbit(value) ? 0xffc0 : 0x7fc0;
  const auto rounded = static_cast<float>(RoundToFloat(value, ElementType::kBf16, RoundMode::kHalfToEven));
  return static_cast<uint16_t>(Read<uint32_t>(&rounded) >> 16);
}

double F16ToDouble(uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  double value;
  if (exponent == 0x1f) {
    value = fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else {
    value = std::ldexp(1024 + fraction, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

uint16_t DoubleToF16(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return sign | 0x7e00;
  const double magnitude = std::fabs(RoundToFloat(value, ElementType::kF16, RoundMode::kHalfToEven));
  if (std::isinf(magnitude)) return sign | 0x7c00;
  if (magnitude < std::ldexp(1, -14)) return sign | static_cast<uint16_t>(std::ldexp(magnitude, 24));
  const int exponent = std::ilogb(magnitude);
  const auto fraction = static_cast<uint16_t>(std::ldexp(magnitude, 10 - exponent) - 1024);
  return sign | static_cast<uint16_t>((exponent + 15) << 10) | fraction;
}

template <typename Integer>
Integer IntegerOf(double value) {
  constexpr bool kSigned = std::numeric_limits<Integer>::is_signed;
  constexpr Integer kInvalid = kSigned ? std::numeric_limits<Integer>::min() : std::numeric_limits<Integer>::max();
  const double whole = std::trunc(value);
  // 2^bits or 2^(bits-1): the first value too large.
  const double limit = std::ldexp(1, std::numeric_limits<Integer>::digits);
  if (!(whole < limit) || !(whole >= (kSigned ? -limit : 0))) return kInvalid;
  return static_cast<Integer>(whole);
}

template <typename Integer, typename T>
void WriteInteger(T value, void* to) {
  if constexpr (std::numeric_limits<T>::is_integer) {
    Write(static_cast<Integer>(value), to);
  } else {
    Write(IntegerOf<Integer>(value), to);
  }
}

template <typename T>
T FloatTo(double value) {
  if constexpr (std::numeric_limits<T>::is_integer) {
    return IntegerOf<T>(value);
  } else {
    return value;
  }
}

}  // namespace

size_t BytesOf(ElementType type) {
  switch (type) {
    case ElementType::kI8:
    case ElementType::kU8:
      return 1;
    case ElementType::kI16:
    case ElementType::kU16:
    case ElementType::kBf16:
    case ElementType::kF16:
      return 2;
    case ElementType::kI32:
    case ElementType::kU32:
    case ElementType::kF32:
      return 4;
    case ElementType::kI64:
    case ElementType::kU64:
      return 8;
    case ElementType::kNone:
      break;
  }
  return 0;
}

bool IsFloat(ElementType type) {
  return type == ElementType::kF32 || type == ElementType::kBf16 || type == ElementType::kF16;
}

bool IsUnsigned(ElementType type) {
  return type == ElementType::kU8 || type == ElementType::kU16 || type == ElementType::kU32 ||
         type == ElementType::kU64;
}

const char* SuffixOf(ElementType type) {
  for (const TypeName& name : kTypes) {
    if (name.type == type) return name.suffix;
  }
  return "none";
}

ElementType TypeOfSuffix(std::string_view suffix) {
  for (const TypeName& name : kTypes) {
    if (name.suffix == suffix) return name.type;
  }
  return ElementType::kNone;
}

double ToDouble(double value) { return value; }

double ToDouble(int64_t value) {
  return value < 0 ? -ToDouble(-static_cast<uint64_t>(value)) : ToDouble(static_cast<uint64_t>(value));
}

double ToDouble(uint64_t value) {
  constexpr uint64_t kLost = (uint64_t{1} << (64 - DBL_MANT_DIG)) - 1;
  if (value >> DBL_MANT_DIG != 0 && (value & kLost) != 0) value = (value & ~kLost) | (kLost + 1);
  return static_cast<double>(value);
}

double RoundToInteger(double value, RoundMode mode) {
  switch (mode) {
    case RoundMode::kDown:
      return std::floor(value);
    case RoundMode::kUp:
      return std::ceil(value);
    case RoundMode::kToZero:
      return std::trunc(value);
    case RoundMode::kHalfAwayFromZero:
      return std::round(value);
    default:
      return std::nearbyint(value);
  }
}

double RoundToFloat(double value, ElementType type, RoundMode mode) {
  if (value == 0 || !std::isfinite(value)) return value;
  const FloatFormat format = FormatOf(type);
  const int exponent = std::max(std::ilogb(value), format.min_exponent);
  const int scale = exponent - format.fraction_bits;
  const double rounded = std::copysign(std::ldexp(RoundToInteger(std::ldexp(value, -scale), mode), scale), value);
  if (std::fabs(rounded) <= format.max) return rounded;
  const bool keeps_finite =
      mode == RoundMode::kToZero || (mode == RoundMode::kDown && value > 0) || (mode == RoundMode::kUp && value < 0);
  return std::copysign(keeps_finite ? format.max : std::numeric_limits<double>::infinity(), value);
}

double FlushDenormal(double value) { return std::fabs(value) < FLT_MIN ? std::copysign(0.0, value) : value; }

template <typename T>
T LoadElement(ElementType type, const void* from) {
  switch (type) {
    case ElementType::kI8:
      return static_cast<T>(Read<int8_t>(from));
    case ElementType::kU8:
      return static_cast<T>(Read<uint8_t>(from));
    case ElementType::kI16:
      return static_cast<T>(Read<int16_t>(from));
    case ElementType::kU16:
      return static_cast<T>(Read<uint16_t>(from));
    case ElementType::kI32:
      return static_cast<T>(Read<int32_t>(from));
    case ElementType::kU32:
      return static_cast<T>(Read<uint32_t>(from));
    case ElementType::kI64:
      return static_cast<T>(Read<int64_t>(from));
    case ElementType::kU64:
      return static_cast<T>(Read<uint64_t>(from));
    case ElementType::kF32:
      return FloatTo<T>(Read<float>(from));
    case ElementType::kBf16:
      return FloatTo<T>(Bf16ToDouble(Read<uint16_t>(from)));
    case ElementType::kF16:
      return FloatTo<T>(F16ToDouble(Read<uint16_t>(from)));
    case ElementType::kNone:
      break;
  }
  return T{};
}

template <typename T>
void StoreElement(ElementType type, T value, void* to) {
  switch (type) {
    case ElementType::kI8:
      return WriteInteger<int8_t>(value, to);
    case ElementType::kU8:
      return WriteInteger<uint8_t>(value, to);
    case ElementType::kI16:
      return WriteInteger<int16_t>(value, to);
    case ElementType::kU16:
      return WriteInteger<uint16_t>(value, to);
    case ElementType::kI32:
      return WriteInteger<int32_t>(value, to);
    case ElementType::kU32:
      return WriteInteger<uint32_t>(value, to);
    case ElementType::kI64:
      return WriteInteger<int64_t>(value, to);
    case ElementType::kU64:
      return WriteInteger<uint64_t>(value, to);
    case ElementType::kF32:
      return Write(static_cast<float>(value), to);
    case ElementType::kBf16:
      return Write(DoubleToBf16(ToDouble(value)), to);
    case ElementType::kF16:
      return Write(DoubleToF16(ToDouble(value)), to);
    case ElementType::kNone:
      return;
  }
}

template double LoadElement<double>(ElementType, const void*);
template int64_t LoadElement<int64_t>(ElementType, const void*);
template uint64_t LoadElement<uint64_t>(ElementType, const void*);
template void StoreElement<double>(ElementType, double, void*);
template void StoreElement<int64_t>(ElementType, int64_t, void*);
template void StoreElement<uint64_t>(ElementType, uint64_t, void*);

}  // namespace hpu::synapse_double
