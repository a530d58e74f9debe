// Order-preserving conversion of sort keys to unsigned numbers, and selection of the smallest numbers.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_SORT_KEYS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_SORT_KEYS_H_

#include <cstdint>

#include "plugin/backends/emulator/kernels/sort.h"
#include "plugin/backends/emulator/kernels/vectorize.h"

namespace hpu::emulator {

// Conversion between keys and numbers. A key of 1, 2 or 4 bytes is in the lowest bits of a uint32_t.
struct KeyOrder {
  KeyOrder(Sort::Type type, int64_t key_bytes, bool descending);

  HPU_INLINE uint32_t Number(uint32_t key) const { return key ^ OfNegative(key) ^ flipped; }
  HPU_INLINE uint32_t Key(uint32_t number) const {
    const uint32_t key = number ^ flipped;
    return key ^ OfNegative(key);
  }

  uint32_t flipped;              // bits that are flipped in all keys
  uint32_t flipped_if_negative;  // bits that are flipped in negative keys, without the sign bit, which Key() tests
  int sign;

 private:
  HPU_INLINE uint32_t OfNegative(uint32_t key) const { return (0u - (key >> sign)) & flipped_if_negative; }
};

// Converts an array of keys of `key_bytes` to numbers.
void ReadNumbers(const void* keys, int64_t key_bytes, int64_t size, const KeyOrder& order, uint32_t* numbers);

// Converts `columns` adjacent columns of keys to numbers, one column at a time. The keys of a column are `stride`
// elements apart.
void ReadColumns(const void* keys, int64_t key_bytes, int64_t size, int64_t stride, int64_t columns,
                 const KeyOrder& order, uint32_t* numbers);

// Writes the keys of elements (radix_sort.h), `stride` apart.
template <typename Element>
void WriteKeys(const Element* elements, int64_t size, const KeyOrder& order, void* keys, int64_t key_bytes,
               int64_t stride);

// Combines numbers and their positions, which start at `first_index`, into elements.
void AppendIndices(const uint32_t* numbers, int64_t size, int64_t first_index, uint64_t* elements);

// Position of the smallest number; the first position if several numbers are equal.
int64_t IndexOfMin(const uint32_t* numbers, int64_t size);

// Finds the `count` smallest of `size` numbers; positions start at `first_index`. Requires count <= size. The result is
// unordered, except that equal numbers keep their order. `held` and `spare` have room for RoomToSelect(count) elements.
int64_t RoomToSelect(int64_t count);
template <typename Element>
void SelectSmallest(const uint32_t* numbers, int64_t size, int64_t first_index, int64_t count, Element* held,
                    Element* spare);

// Moves the `count` smallest of `held` elements to the front, in the same order as SelectSmallest.
template <typename Element>
void KeepSmallestOf(Element* elements, Element* spare, int64_t held, int64_t count);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_SORT_KEYS_H_
