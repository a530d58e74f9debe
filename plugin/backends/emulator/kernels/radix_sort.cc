#include "plugin/backends/emulator/kernels/radix_sort.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "plugin/backends/emulator/kernels/parallel.h"

namespace hpu::emulator {
namespace {

// Up to this size, insertion sort is faster than radix sort.
constexpr int64_t kFewElements = 24;
// Up to these sizes, sorting by two digits leaves few elements out of order, even if numbers differ in a few more bits.
constexpr int64_t kMaxForShortDigits = 2048;
constexpr int64_t kMaxForTwoDigits = 32 << 10;
constexpr int kShortDigit = 8;
constexpr int kLongDigit = 11;
// Limit of the insertion sort's moves; beyond it, radix sort runs over all digits.
constexpr int64_t kMaxMovesPerElement = 8;
// Size of a chunk of an array that is split over the pool.
constexpr int64_t kChunk = 32 << 10;

// The bits in which numbers differ from the first number.
template <typename Element>
uint32_t DifferingBits(const Element* elements, int64_t size, uint32_t first) {
  uint32_t bits = 0;
  for (int64_t i = 0; i < size; ++i) bits |= NumberOf(elements[i]) ^ first;
  return bits;
}

int WidthOf(uint32_t bits) { return bits == 0 ? 0 : 32 - __builtin_clz(bits); }

template <int bits>
struct Counts {
  static constexpr uint32_t kSize = 1u << bits;
  static uint32_t Digit(uint32_t number, int lowest) { return number >> lowest & (kSize - 1); }

  uint32_t of[kSize] = {};
};

// Turns the counts of each digit into the position of its first element.
template <int bits>
void ToOffsets(Counts<bits>* counts) {
  uint32_t sum = 0;
  for (uint32_t& count : counts->of) sum += std::exchange(count, sum);
}

// Sorts by `digits` digits, starting at bit `lowest`.
template <int bits, int digits, typename Element>
Element* SortByDigits(Element* from, Element* to, int64_t size, int lowest) {
  using C = Counts<bits>;
  C counts[digits];
  for (int64_t i = 0; i < size; ++i) {
    const uint32_t number = NumberOf(from[i]) >> lowest;
    for (int d = 0; d < digits; ++d) ++counts[d].of[C::Digit(number, d * bits)];
  }
  for (int d = 0; d < digits; ++d) {
    ToOffsets(&counts[d]);
    uint32_t* const offsets = counts[d].of;
    for (int64_t i = 0; i < size; ++i) to[offsets[C::Digit(NumberOf(from[i]), lowest + d * bits)]++] = from[i];
    std::swap(from, to);
  }
  return from;
}

template <int bits, typename Element>
Element* SortByDigits(Element* from, Element* to, int64_t size, int lowest, int width) {
  switch ((width + bits - 1) / bits) {
    case 1:
      return SortByDigits<bits, 1>(from, to, size, lowest);
    case 2:
      return SortByDigits<bits, 2>(from, to, size, lowest);
    default:
      return SortByDigits<bits, 3>(from, to, size, lowest);
  }
}

// Stops after `max_moves` moves and returns false; even then, positions ascend among equal numbers.
template <typename Element>
bool SortByInsertion(Element* elements, int64_t size, int64_t max_moves) {
  for (int64_t i = 1; i < size; ++i) {
    const Element element = elements[i];
    int64_t to = i;
    for (; to > 0 && element < elements[to - 1]; --to) elements[to] = elements[to - 1];
    elements[to] = element;
    max_moves -= i - to;
    if (max_moves < 0) return false;
  }
  return true;
}

// Sorts by two digits of the highest differing bits, then sorts the few elements that are still out of order.
template <int bits, typename Element>
Element* SortByTwoDigits(Element* elements, Element* spare, int64_t size, int width) {
  const int lowest = std::max(0, width - 2 * bits);
  Element* const sorted = SortByDigits<bits>(elements, spare, size, lowest, std::min(width, 2 * bits));
  if (lowest == 0 || SortByInsertion(sorted, size, kMaxMovesPerElement * size)) return sorted;
  return SortByDigits<kLongDigit>(sorted, sorted == elements ? spare : elements, size, 0, width);
}

// Sorts an array that is split over the pool, one chunk for each shard.
template <typename Element>
Element* SortChunks(ComputePool& pool, Element* elements, Element* spare, int64_t size, int64_t chunks) {
  using C = Counts<kLongDigit>;
  std::vector<uint32_t> differing(chunks);
  RunShards(pool, chunks, 1, [&](Shard shard) {
    const int64_t begin = shard.begin * kChunk;
    differing[shard.begin] = DifferingBits(elements + begin, std::min(kChunk, size - begin), NumberOf(elements[0]));
  });
  uint32_t bits = 0;
  for (const uint32_t other : differing) bits |= other;
  std::vector<C> counts(chunks);
  for (int lowest = 0; lowest < WidthOf(bits); lowest += kLongDigit) {
    const auto for_chunks = [&](auto&& body) {
      RunShards(pool, chunks, 1, [&](Shard shard) {
        const int64_t begin = shard.begin * kChunk, end = std::min(size, begin + kChunk);
        uint32_t* const of = counts[shard.begin].of;
        for (int64_t i = begin; i < end; ++i) body(elements[i], of[C::Digit(NumberOf(elements[i]), lowest)]);
      });
    };
    std::fill(counts.begin(), counts.end(), C());
    for_chunks([](Element, uint32_t& count) { ++count; });
    uint32_t sum = 0;
    for (uint32_t digit = 0; digit < C::kSize; ++digit) {
      for (C& of_chunk : counts) sum += std::exchange(of_chunk.of[digit], sum);
    }
    for_chunks([&](Element element, uint32_t& offset) { spare[offset++] = element; });
    std::swap(elements, spare);
  }
  return elements;
}

}  // namespace

template <typename Element>
Element* RadixSort(Element* elements, Element* spare, int64_t size) {
  if (size <= kFewElements) {
    SortByInsertion(elements, size, size * size);
    return elements;
  }
  const int width = WidthOf(DifferingBits(elements, size, NumberOf(elements[0])));
  if (width == 0) return elements;
  if (size <= kMaxForShortDigits) return SortByTwoDigits<kShortDigit>(elements, spare, size, width);
  if (size <= kMaxForTwoDigits) return SortByTwoDigits<kLongDigit>(elements, spare, size, width);
  return SortByDigits<kLongDigit>(elements, spare, size, 0, width);
}

template <typename Element>
Element* RadixSort(ComputePool& pool, Element* elements, Element* spare, int64_t size) {
  const int64_t chunks = (size + kChunk - 1) / kChunk;
  if (chunks == 1 || pool.threads() == 1) return RadixSort(elements, spare, size);
  return SortChunks(pool, elements, spare, size, chunks);
}

template uint32_t* RadixSort(uint32_t*, uint32_t*, int64_t);
template uint64_t* RadixSort(uint64_t*, uint64_t*, int64_t);
template uint32_t* RadixSort(ComputePool&, uint32_t*, uint32_t*, int64_t);
template uint64_t* RadixSort(ComputePool&, uint64_t*, uint64_t*, int64_t);

}  // namespace hpu::emulator
