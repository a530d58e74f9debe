// RangeAllocator: best-fit allocator of ranges in [0, size).
#ifndef HPU_PLUGIN_BACKENDS_COMMON_RANGE_ALLOCATOR_H_
#define HPU_PLUGIN_BACKENDS_COMMON_RANGE_ALLOCATOR_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "plugin/base/round_up.h"

namespace hpu::common {

// Allocates from the smallest free part that fits; among parts of equal size, from the lowest offset. Neighbouring free
// parts are merged. All offsets and sizes are multiples of the alignment. Logarithmic in the number of free parts. Not
// thread safe.
class RangeAllocator {
 public:
  // `alignment` is a power of two; `size` is rounded down to a multiple of it.
  RangeAllocator(uint64_t size, uint64_t alignment);

  // Offset of a part of at least `bytes` > 0 bytes; nullopt if no free part is large enough.
  std::optional<uint64_t> Allocate(uint64_t bytes);
  // Frees a part; `bytes` is the size that was passed to Allocate.
  void Free(uint64_t offset, uint64_t bytes);

  uint64_t size() const { return size_; }
  uint64_t free_bytes() const { return free_bytes_; }
  uint64_t largest_free() const { return by_size_.empty() ? 0 : by_size_.rbegin()->first; }

 private:
  uint64_t RoundUp(uint64_t bytes) const { return hpu::RoundUp(bytes, alignment_); }
  void Insert(uint64_t offset, uint64_t bytes);
  void Erase(std::map<uint64_t, uint64_t>::iterator part);

  const uint64_t alignment_;
  const uint64_t size_;
  uint64_t free_bytes_ = 0;
  std::map<uint64_t, uint64_t> by_offset_;           // free parts: offset, bytes
  std::set<std::pair<uint64_t, uint64_t>> by_size_;  // free parts: bytes, offset
};

}  // namespace hpu::common

#endif  // HPU_PLUGIN_BACKENDS_COMMON_RANGE_ALLOCATOR_H_
