// Loops over adjacent elements in steps of fixed sizes, so that compilers keep the elements of a step in registers.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_LANES_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_LANES_H_

#include <cstdint>
#include <cstring>

#include "plugin/backends/emulator/kernels/vectorize.h"

namespace hpu::emulator {

// Covers [begin, end) by calls of F::Run<n>(work, first lane), with n from 64 downwards.
template <typename F, typename Work>
HPU_INLINE void OverLanes(const Work& work, int64_t begin, int64_t end) {
  int64_t lane = begin;
  for (; lane + 64 <= end; lane += 64) F::template Run<64>(work, lane);
  for (; lane + 16 <= end; lane += 16) F::template Run<16>(work, lane);
  for (; lane + 4 <= end; lane += 4) F::template Run<4>(work, lane);
  for (; lane < end; ++lane) F::template Run<1>(work, lane);
}

// Like OverLanes, but in registers of `width` lanes. For functions that use Lanes.
template <typename F, int width, typename Work>
HPU_INLINE void OverRegisters(const Work& work, int64_t begin, int64_t end) {
  int64_t lane = begin;
  for (; lane + width <= end; lane += width) F::template Run<width>(work, lane);
  for (; lane + 4 <= end; lane += 4) F::template Run<4>(work, lane);
  for (; lane < end; ++lane) F::template Run<1>(work, lane);
}

// n elements as one value; n must fit in a register. Plain loops that choose between array elements do not vectorise:
// compilers emit jumps around stores. Comparisons of 32-bit elements return Lanes<int32_t, n>, which `?:` accepts.
template <typename T, int n>
using Lanes [[gnu::vector_size(sizeof(T) * n)]] = T;

template <int n, typename T>
HPU_INLINE Lanes<T, n> LoadLanes(const T* from) {
  Lanes<T, n> lanes;
  std::memcpy(&lanes, from, sizeof(lanes));
  return lanes;
}

template <typename L, typename T>
HPU_INLINE void StoreLanes(const L& lanes, T* to) {
  std::memcpy(to, &lanes, sizeof(lanes));
}

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_LANES_H_
