// Stable radix sort by 32-bit key. A uint64_t element holds the key in its upper half and an index in its lower half; a
// uint32_t element is its own key.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_RADIX_SORT_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_RADIX_SORT_H_

#include <cstdint>

#include "plugin/backends/emulator/threads/compute_pool.h"

namespace hpu::emulator {

inline uint32_t NumberOf(uint32_t element) { return element; }
inline uint32_t NumberOf(uint64_t element) { return static_cast<uint32_t>(element >> 32); }

// Sorts `size` elements; indices of equal keys must ascend. `spare` has room for `size` elements. Returns the
// array, `elements` or `spare`, that holds the result. Instantiated for uint32_t and uint64_t.
template <typename Element>
Element* RadixSort(Element* elements, Element* spare, int64_t size);

// Parallel version. The result is the same for any number of threads.
template <typename Element>
Element* RadixSort(ComputePool& pool, Element* elements, Element* spare, int64_t size);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_RADIX_SORT_H_
