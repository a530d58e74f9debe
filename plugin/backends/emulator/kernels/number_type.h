// Number types of kernels, as encoded in their parameters.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_NUMBER_TYPE_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_NUMBER_TYPE_H_

#include <cstdint>

namespace hpu::emulator {

enum class NumberType : int64_t { kFloat32 = 0, kInt32 = 1, kFloat64 = 2, kInt64 = 3 };
inline constexpr int64_t kNumberTypes = 4;

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_NUMBER_TYPE_H_
