// Keys as unsigned numbers of the same order, and back.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_SORT_KEYS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_SORT_KEYS_H_

#include <cstdint>

#include "plugin/backends/emulator/kernels/sort.h"
#include "plugin/backends/emulator/kernels/vectorize.h"

namespace hpu::emulator {

// Of a key of 1, 2 or 4 bytes, in the lowest bits.
struct KeyOrder {
  KeyOrder(Sort::Type type, int64_t key_bytes, bool descending);

  HPU_INLINE uint32_t Number(uint32_t key) const { return key ^ OfNegative(key) ^ flipped; }
  HPU_INLINE uint32_t Key(uint32_t number) const {
    const uint32_t key = number ^ flipped;
    return key ^ OfNegative(key);
  }

  uint32_t flipped;              // the bits of all keys that are others in numbers
  uint32_t flipped_if_negative;  // and those of negative ones: never the sign, so that keys and numbers agree on it
  int sign;

 private:
  HPU_INLINE uint32_t OfNegative(uint32_t key) const { return (0u - (key >> sign)) & flipped_if_negative; }
};

// An array of keys of `key_bytes` as numbers.
void ReadNumbers(const void* keys, int64_t key_bytes, int64_t size, const KeyOrder& order, uint32_t* numbers);

// A column of keys, `stride` elements apart, as numbers: of `columns` columns that lie side by side. Column after
// column.
void ReadColumns(const void* keys, int64_t key_bytes, int64_t size, int64_t stride, int64_t columns,
                 const KeyOrder& order, uint32_t* numbers);

// The keys of elements (radix_sort.h), `stride` apart.
template <typename Element>
void WriteKeys(const Element* elements, int64_t size, const KeyOrder& order, void* keys, int64_t key_bytes,
               int64_t stride);

// Elements of numbers and their places, from `first_place` on.
void AddPlaces(const uint32_t* numbers, int64_t size, int64_t first_place, uint64_t* elements);

// The place of the least number, of equal ones the first.
int64_t PlaceOfLeast(const uint32_t* numbers, int64_t size);

// Finds the `count` least elements of `size` numbers, `count` being no more; places count from `first_place`. Equal
// numbers come in their order, others in none. `held` and `spare` have room for RoomToSelect(count).
int64_t RoomToSelect(int64_t count);
template <typename Element>
void SelectLeast(const uint32_t* numbers, int64_t size, int64_t first_place, int64_t count, Element* held,
                 Element* spare);

// Leaves the `count` least of `held` elements at the front, likewise.
template <typename Element>
void KeepLeastOf(Element* elements, Element* spare, int64_t held, int64_t count);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_SORT_KEYS_H_
