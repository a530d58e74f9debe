#include "plugin/backends/pjrt/address_map.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hpu::pjrt {

void AddressMap::Bind(hal::DeviceAddress address, uint64_t bytes, SharedBufferPtr buffer, uint64_t offset) {
  const hal::DeviceAddress end = address + bytes;
  auto found = ranges_.lower_bound(address);
  if (found != ranges_.end() && found->first == address && found->second.end == end) {
    found->second.buffer = std::move(buffer);
    found->second.offset = offset;
    return;
  }
  Erase(address, bytes);
  ranges_.emplace(address, Range{end, std::move(buffer), offset});
}

void AddressMap::Erase(hal::DeviceAddress address, uint64_t bytes) {
  const hal::DeviceAddress end = address + bytes;
  auto range = ranges_.erase(FirstEndingAfter(address), FirstEndingAfter(address));  // converts to a mutable iterator
  while (range != ranges_.end() && range->first < end) {
    ++generation_;
    const hal::DeviceAddress begin = range->first;
    if (range->second.end > end) {  // keep the part after the erased range
      Range rest = range->second;
      rest.offset += end - begin;
      ranges_.emplace_hint(std::next(range), end, std::move(rest));
    }
    if (begin < address) {  // keep the part before the erased range
      range->second.end = address;
      ++range;
    } else {
      range = ranges_.erase(range);
    }
  }
}

SharedBufferPtr* AddressMap::FindWhole(hal::DeviceAddress address, uint64_t bytes) {
  const auto found = ranges_.find(address);
  if (found == ranges_.end()) return nullptr;
  Range& range = found->second;
  if (range.end - address != bytes || range.offset != 0 || range.buffer == nullptr) return nullptr;
  return range.buffer->bytes == bytes ? &range.buffer : nullptr;
}

std::vector<AddressMap::Piece> AddressMap::Pieces(hal::DeviceAddress address, uint64_t bytes) const {
  std::vector<Piece> pieces;
  const hal::DeviceAddress end = address + bytes;
  hal::DeviceAddress at = address;
  for (auto range = FirstEndingAfter(address); range != ranges_.end() && range->first < end; ++range) {
    if (range->first > at) {
      pieces.push_back(Piece{range->first - at, nullptr, 0});
      at = range->first;
    }
    const hal::DeviceAddress until = std::min(end, range->second.end);
    const uint64_t offset = range->second.buffer == nullptr ? 0 : range->second.offset + (at - range->first);
    pieces.push_back(Piece{until - at, range->second.buffer, offset});
    at = until;
  }
  if (at < end) pieces.push_back(Piece{end - at, nullptr, 0});
  return pieces;
}

AddressMap::Ranges::const_iterator AddressMap::FirstEndingAfter(hal::DeviceAddress address) const {
  auto range = ranges_.upper_bound(address);
  if (range != ranges_.begin() && std::prev(range)->second.end > address) --range;
  return range;
}

}  // namespace hpu::pjrt
