// Loads and stores of float32 and bfloat16 elements as float32.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_BFLOAT16_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_BFLOAT16_H_

#include <cstdint>
#include <cstring>

#include "plugin/backends/emulator/kernels/lanes.h"
#include "plugin/backends/emulator/kernels/vectorize.h"

namespace hpu::emulator {

struct BFloat16 {
  uint16_t bits;
};

HPU_INLINE uint32_t BitsOf(float value) {
  union {
    float value;
    uint32_t bits;
  } number = {value};
  return number.bits;
}

HPU_INLINE float Load(const float* from) { return *from; }

HPU_INLINE float Load(const BFloat16* from) {
  union {
    uint32_t bits;
    float value;
  } number = {uint32_t{from->bits} << 16};
  return number.value;
}

// Loads n adjacent elements.
template <int n>
HPU_INLINE Lanes<float, n> LoadFloats(const float* from) {
  return LoadLanes<n>(from);
}

template <int n>
HPU_INLINE Lanes<float, n> LoadFloats(const BFloat16* from) {
  const auto bits = __builtin_convertvector(LoadLanes<n>(&from->bits), Lanes<uint32_t, n>) << 16;
  Lanes<float, n> values;
  std::memcpy(&values, &bits, sizeof(values));
  return values;
}

// Stores a number that the type represents exactly.
HPU_INLINE void StoreExact(float value, float* to) { *to = value; }

HPU_INLINE void StoreExact(float value, BFloat16* to) { to->bits = static_cast<uint16_t>(BitsOf(value) >> 16); }

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_BFLOAT16_H_
