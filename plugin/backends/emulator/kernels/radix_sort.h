// Sorting by digits. An element holds a number, and may hold a place below it: of equal numbers, the first one in the
// array stays first, so places that ascend in the array do so among equal numbers in the result.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_RADIX_SORT_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_RADIX_SORT_H_

#include <cstdint>

#include "plugin/backends/emulator/threads/compute_pool.h"

namespace hpu::emulator {

inline uint32_t NumberOf(uint32_t element) { return element; }
inline uint32_t NumberOf(uint64_t element) { return static_cast<uint32_t>(element >> 32); }

// Sorts `size` elements, in whose numbers places ascend; `spare` has room for as many. Returns which of both arrays
// holds the result. For uint32_t and uint64_t.
template <typename Element>
Element* RadixSort(Element* elements, Element* spare, int64_t size);

// The same, cut over the pool. The result is the same for any number of threads.
template <typename Element>
Element* RadixSort(ComputePool& pool, Element* elements, Element* spare, int64_t size);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_RADIX_SORT_H_
