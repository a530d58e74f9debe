// Sizes in whole units.
#ifndef HPU_PLUGIN_BASE_ROUND_UP_H_
#define HPU_PLUGIN_BASE_ROUND_UP_H_

#include <cstdint>

namespace hpu::hal {

// The least multiple of `unit` > 0 that is at least `value`.
constexpr uint64_t RoundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace hpu::hal

#endif  // HPU_PLUGIN_BASE_ROUND_UP_H_
