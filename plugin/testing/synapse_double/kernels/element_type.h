// Element types of the Synapse double's kernels, and conversions between them and the types that kernels compute in.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_ELEMENT_TYPE_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_ELEMENT_TYPE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hpu::synapse_double {

// The values are those of synDataType.
enum class ElementType : uint32_t {
  kNone = 0,
  kI8 = 1 << 0,
  kBf16 = 1 << 1,
  kF32 = 1 << 2,
  kI16 = 1 << 3,
  kI32 = 1 << 4,
  kU8 = 1 << 5,
  kF16 = 1 << 8,
  kU16 = 1 << 9,
  kU32 = 1 << 10,
  kI64 = 1 << 15,
  kU64 = 1 << 16,
};

// The values are those of ns_CastKernel.
enum class RoundMode : int32_t {
  kHalfToEven = 0,
  kDown = 1,
  kUp = 2,
  kStochastic = 3,
  kToZero = 4,
  kDefault = 5,
  kHalfAwayFromZero = 6,
  kStochasticFlushToZero = 8,
};

// Bytes of an element; 0 for a type that the kernels do not know.
size_t BytesOf(ElementType type);
bool IsFloat(ElementType type);
bool IsUnsigned(ElementType type);

// The type suffix of guids ("f32"); "none" for a type that the kernels do not know.
const char* SuffixOf(ElementType type);
// Inverse of SuffixOf; kNone for other text.
ElementType TypeOfSuffix(std::string_view suffix);

// Converts to a double. An integer of more than 53 bits rounds to odd: lost bits set the last bit. The double then
// rounds to every float type in every mode as the integer would.
double ToDouble(double value);
double ToDouble(int64_t value);
double ToDouble(uint64_t value);

// Rounds to an integral value.
double RoundToInteger(double value, RoundMode mode);
// Rounds to a value of the float type `type`. On overflow, `mode` decides between infinity and the largest finite
// value.
double RoundToFloat(double value, ElementType type, RoundMode mode);
// Returns 0 for numbers that are denormal in f32 and bf16, and other numbers unchanged. Keeps the sign.
double FlushDenormal(double value);

// Loads the element at `from` as T: double, int64_t or uint64_t. Integers convert modulo 2^64.
template <typename T>
T LoadElement(ElementType type, const void* from);

// Stores `value` at `to`. Floats round to nearest even. Integers keep the low bits; a double that the integer type
// cannot hold, and NaN, become the smallest signed or the largest unsigned value.
template <typename T>
void StoreElement(ElementType type, T value, void* to);

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_ELEMENT_TYPE_H_
