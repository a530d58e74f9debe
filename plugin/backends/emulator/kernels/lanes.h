// Loops over numbers that lie side by side, in pieces of a constant size: compilers make one register of each.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_LANES_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_LANES_H_

#include <cstdint>

#include "plugin/backends/emulator/kernels/vectorize.h"

namespace hpu::emulator {

// Covers [begin, end) by calls of F::Run<n>(work, first lane).
template <typename F, typename Work>
HPU_INLINE void OverLanes(const Work& work, int64_t begin, int64_t end) {
  int64_t lane = begin;
  for (; lane + 64 <= end; lane += 64) F::template Run<64>(work, lane);
  for (; lane + 16 <= end; lane += 16) F::template Run<16>(work, lane);
  for (; lane + 4 <= end; lane += 4) F::template Run<4>(work, lane);
  for (; lane < end; ++lane) F::template Run<1>(work, lane);
}

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_LANES_H_
