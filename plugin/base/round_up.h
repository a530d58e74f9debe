// RoundUp: the next multiple of a unit.
#ifndef HPU_PLUGIN_BASE_ROUND_UP_H_
#define HPU_PLUGIN_BASE_ROUND_UP_H_

#include <cstdint>

namespace hpu {

// The smallest multiple of `unit` that is at least `value`. `unit` > 0.
constexpr uint64_t RoundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace hpu

#endif  // HPU_PLUGIN_BASE_ROUND_UP_H_
