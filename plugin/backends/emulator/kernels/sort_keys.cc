#include "plugin/backends/emulator/kernels/sort_keys.h"

#include <algorithm>

#include "plugin/backends/emulator/kernels/lanes.h"
#include "plugin/backends/emulator/kernels/radix_sort.h"

namespace hpu::emulator {
namespace {

constexpr int kBlock = 16;

template <typename Key>
struct Reading {
  const Key* keys;
  uint32_t* numbers;
  int64_t size;
  const KeyOrder order;
};

template <typename Key>
HPU_INLINE void Read(const Reading<Key>& work) {
  const KeyOrder order = work.order;
  for (int64_t i = 0; i < work.size; ++i) work.numbers[i] = order.Number(work.keys[i]);
}

HPU_VECTORIZED(Read8, Reading<uint8_t>, Read<uint8_t>)
HPU_VECTORIZED(Read16, Reading<uint16_t>, Read<uint16_t>)
HPU_VECTORIZED(Read32, Reading<uint32_t>, Read<uint32_t>)

template <typename Element, typename Key>
struct Writing {
  const Element* elements;
  Key* keys;
  int64_t size;
  const KeyOrder order;
};

template <typename Element, typename Key>
HPU_INLINE void Write(const Writing<Element, Key>& work) {
  const KeyOrder order = work.order;
  for (int64_t i = 0; i < work.size; ++i) work.keys[i] = static_cast<Key>(order.Key(NumberOf(work.elements[i])));
}

using Writing32 = Writing<uint32_t, uint32_t>;
using Writing64 = Writing<uint64_t, uint32_t>;
HPU_VECTORIZED(Write32, Writing32, (Write<uint32_t, uint32_t>))
HPU_VECTORIZED(Write64, Writing64, (Write<uint64_t, uint32_t>))

void WriteDense(const uint32_t* elements, int64_t size, const KeyOrder& order, uint32_t* keys) {
  Write32({elements, keys, size, order});
}

void WriteDense(const uint64_t* elements, int64_t size, const KeyOrder& order, uint32_t* keys) {
  Write64({elements, keys, size, order});
}

template <typename Element, typename Key>
void WriteStrided(const Element* elements, int64_t size, const KeyOrder& order, Key* keys, int64_t stride) {
  for (int64_t i = 0; i < size; ++i) keys[i * stride] = static_cast<Key>(order.Key(NumberOf(elements[i])));
}

template <typename Key>
void ReadColumnsOf(const Key* keys, int64_t size, int64_t stride, int64_t columns, const KeyOrder& order,
                   uint32_t* numbers) {
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t c = 0; c < columns; ++c) numbers[c * size + i] = order.Number(keys[i * stride + c]);
  }
}

struct Adding {
  const uint32_t* numbers;
  uint64_t* elements;
  int64_t size;
  uint32_t first_index;
};

HPU_INLINE uint64_t WithIndex(uint32_t number, uint32_t index) { return uint64_t{number} << 32 | index; }

HPU_INLINE void Add(const Adding& work) {
  const auto size = static_cast<uint32_t>(work.size);
  for (uint32_t i = 0; i < size; ++i) work.elements[i] = WithIndex(work.numbers[i], work.first_index + i);
}

HPU_VECTORIZED(AddVectors, Adding, Add)

struct Search {
  const uint32_t* numbers;
  int64_t size;
  int64_t* index;
};

HPU_INLINE void FindMin(const Search& work) {
  uint32_t min = work.numbers[0];
  for (int64_t i = 0; i < work.size; ++i) min = work.numbers[i] < min ? work.numbers[i] : min;
  int64_t i = 0;
  for (; i + kBlock <= work.size; i += kBlock) {
    uint32_t found = 0;
    HPU_SIMD
    for (int j = 0; j < kBlock; ++j) found |= work.numbers[i + j] == min ? 1u : 0u;
    if (found != 0) break;
  }
  while (work.numbers[i] != min) ++i;
  *work.index = i;
}

HPU_VECTORIZED(FindMinVectors, Search, FindMin)

template <typename Element>
struct Selection {
  const uint32_t* numbers;
  int64_t size;
  int64_t first_index;
  int64_t count;
  Element* held;
  Element* spare;
};

HPU_INLINE void Make(uint32_t number, int64_t, uint32_t* element) { *element = number; }
HPU_INLINE void Make(uint32_t number, int64_t index, uint64_t* element) {
  *element = WithIndex(number, static_cast<uint32_t>(index));
}

// Moves the `count` smallest of `held` elements to the front and returns the greatest element moved. Equal numbers keep
// their order.
template <typename Element>
Element KeepSmallest(Element* elements, Element* spare, int64_t held, int64_t count) {
  std::copy_n(elements, held, spare);
  std::nth_element(spare, spare + count - 1, spare + held);
  const Element greatest = spare[count - 1];
  int64_t kept = 0;
  for (int64_t i = 0; i < held; ++i) {
    const Element element = elements[i];
    elements[kept] = element;
    kept += element < greatest ? 1 : 0;
  }
  std::fill(elements + kept, elements + count, greatest);
  return greatest;
}

// Collects candidates for the smallest elements, and drops the greater candidates when the buffer is full. The first of
// equal numbers are kept, so a later number that equals the greatest held number is dropped.
template <typename Element>
HPU_INLINE void Select(const Selection<Element>& work) {
  const int64_t room = RoomToSelect(work.count) - kBlock;
  int64_t held = 0;
  uint32_t greatest = ~uint32_t{0};  // greatest number that is still a candidate
  const auto hold = [&](int64_t i) {
    Make(work.numbers[i], work.first_index + i, work.held + held);
    held += work.numbers[i] <= greatest ? 1 : 0;
  };
  int64_t i = 0;
  for (; i + kBlock <= work.size; i += kBlock) {
    uint32_t found = 0;
    HPU_SIMD
    for (int j = 0; j < kBlock; ++j) found |= work.numbers[i + j] <= greatest ? 1u : 0u;
    if (found == 0) continue;
    for (int j = 0; j < kBlock; ++j) hold(i + j);
    if (held <= room) continue;
    const uint32_t last = NumberOf(KeepSmallest(work.held, work.spare, held, work.count));
    held = work.count;
    if (last == 0) return;
    greatest = last - 1;
  }
  for (; i < work.size; ++i) hold(i);
  KeepSmallest(work.held, work.spare, held, work.count);
}

HPU_VECTORIZED(SelectNumbers, Selection<uint32_t>, Select<uint32_t>)
HPU_VECTORIZED(SelectElements, Selection<uint64_t>, Select<uint64_t>)

void SelectAny(const Selection<uint32_t>& work) { SelectNumbers(work); }
void SelectAny(const Selection<uint64_t>& work) { SelectElements(work); }

}  // namespace

KeyOrder::KeyOrder(Sort::Type type, int64_t key_bytes, bool descending) : sign(static_cast<int>(8 * key_bytes) - 1) {
  const uint32_t sign_bit = uint32_t{1} << sign, others = sign_bit - 1;
  flipped = (type == Sort::kUnsigned ? 0 : sign_bit) ^ (descending ? sign_bit | others : 0);
  flipped_if_negative = type == Sort::kFloat ? others : 0;
}

void ReadNumbers(const void* keys, int64_t key_bytes, int64_t size, const KeyOrder& order, uint32_t* numbers) {
  switch (key_bytes) {
    case 1:
      return Read8({static_cast<const uint8_t*>(keys), numbers, size, order});
    case 2:
      return Read16({static_cast<const uint16_t*>(keys), numbers, size, order});
    default:
      return Read32({static_cast<const uint32_t*>(keys), numbers, size, order});
  }
}

void ReadColumns(const void* keys, int64_t key_bytes, int64_t size, int64_t stride, int64_t columns,
                 const KeyOrder& order, uint32_t* numbers) {
  switch (key_bytes) {
    case 1:
      return ReadColumnsOf(static_cast<const uint8_t*>(keys), size, stride, columns, order, numbers);
    case 2:
      return ReadColumnsOf(static_cast<const uint16_t*>(keys), size, stride, columns, order, numbers);
    default:
      return ReadColumnsOf(static_cast<const uint32_t*>(keys), size, stride, columns, order, numbers);
  }
}

template <typename Element>
void WriteKeys(const Element* elements, int64_t size, const KeyOrder& order, void* keys, int64_t key_bytes,
               int64_t stride) {
  switch (key_bytes) {
    case 1:
      return WriteStrided(elements, size, order, static_cast<uint8_t*>(keys), stride);
    case 2:
      return WriteStrided(elements, size, order, static_cast<uint16_t*>(keys), stride);
    default:
      if (stride == 1) return WriteDense(elements, size, order, static_cast<uint32_t*>(keys));
      return WriteStrided(elements, size, order, static_cast<uint32_t*>(keys), stride);
  }
}

void AppendIndices(const uint32_t* numbers, int64_t size, int64_t first_index, uint64_t* elements) {
  AddVectors({numbers, elements, size, static_cast<uint32_t>(first_index)});
}

int64_t IndexOfMin(const uint32_t* numbers, int64_t size) {
  int64_t index;
  FindMinVectors({numbers, size, &index});
  return index;
}

int64_t RoomToSelect(int64_t count) { return 2 * count + 64 + kBlock; }

template <typename Element>
void SelectSmallest(const uint32_t* numbers, int64_t size, int64_t first_index, int64_t count, Element* held,
                    Element* spare) {
  SelectAny({numbers, size, first_index, count, held, spare});
}

template <typename Element>
void KeepSmallestOf(Element* elements, Element* spare, int64_t held, int64_t count) {
  KeepSmallest(elements, spare, held, count);
}

template void WriteKeys(const uint32_t*, int64_t, const KeyOrder&, void*, int64_t, int64_t);
template void WriteKeys(const uint64_t*, int64_t, const KeyOrder&, void*, int64_t, int64_t);
template void SelectSmallest(const uint32_t*, int64_t, int64_t, int64_t, uint32_t*, uint32_t*);
template void SelectSmallest(const uint32_t*, int64_t, int64_t, int64_t, uint64_t*, uint64_t*);
template void KeepSmallestOf(uint32_t*, uint32_t*, int64_t, int64_t);
template void KeepSmallestOf(uint64_t*, uint64_t*, int64_t, int64_t);

}  // namespace hpu::emulator
