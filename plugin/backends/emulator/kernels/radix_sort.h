// Stable radix sort. An element holds a number and, in its lower bits, optionally a position. Equal numbers keep their
// order, so positions that ascend in the array also ascend among equal numbers of the result.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_RADIX_SORT_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_RADIX_SORT_H_

#include <cstdint>

#include "plugin/backends/emulator/threads/compute_pool.h"

namespace hpu::emulator {

inline uint32_t NumberOf(uint32_t element) { return element; }
inline uint32_t NumberOf(uint64_t element) { return static_cast<uint32_t>(element >> 32); }

// Sorts `size` elements; positions of equal numbers must ascend. `spare` has room for `size` elements. Returns the
// array, `elements` or `spare`, that holds the result. Instantiated for uint32_t and uint64_t.
template <typename Element>
Element* RadixSort(Element* elements, Element* spare, int64_t size);

// Parallel version. The result is the same for any number of threads.
template <typename Element>
Element* RadixSort(ComputePool& pool, Element* elements, Element* spare, int64_t size);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_RADIX_SORT_H_
