#include "plugin/backends/common/range_allocator.h"

#include <iterator>

namespace hpu::common {

RangeAllocator::RangeAllocator(uint64_t size, uint64_t alignment)
    : alignment_(alignment), size_(size & ~(alignment - 1)) {
  if (size_ > 0) Insert(0, size_);
}

std::optional<uint64_t> RangeAllocator::Allocate(uint64_t bytes) {
  if (bytes == 0 || bytes > size_) return std::nullopt;  // the second test also prevents overflow in RoundUp
  const uint64_t rounded = RoundUp(bytes);
  const auto best = by_size_.lower_bound({rounded, 0});
  if (best == by_size_.end()) return std::nullopt;
  const auto [part_bytes, offset] = *best;
  Erase(by_offset_.find(offset));
  if (part_bytes > rounded) Insert(offset + rounded, part_bytes - rounded);
  return offset;
}

void RangeAllocator::Free(uint64_t offset, uint64_t bytes) {
  uint64_t begin = offset;
  uint64_t end = offset + RoundUp(bytes);
  auto next = by_offset_.lower_bound(begin);
  if (next != by_offset_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == begin) {
      begin = previous->first;
      Erase(previous);
    }
  }
  if (next != by_offset_.end() && next->first == end) {
    end += next->second;
    Erase(next);
  }
  Insert(begin, end - begin);
}

void RangeAllocator::Insert(uint64_t offset, uint64_t bytes) {
  by_offset_.emplace(offset, bytes);
  by_size_.emplace(bytes, offset);
  free_bytes_ += bytes;
}

void RangeAllocator::Erase(std::map<uint64_t, uint64_t>::iterator part) {
  by_size_.erase({part->second, part->first});
  free_bytes_ -= part->second;
  by_offset_.erase(part);
}

}  // namespace hpu::common
