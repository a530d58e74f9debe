#include "plugin/backends/null/host_values.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace hpu::null {

void HostValues::Write(hal::DeviceAddress destination, const void* source, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  EraseLocked(destination, bytes);
  if (bytes <= kMaxBytes) values_.emplace(destination, std::string(static_cast<const char*>(source), bytes));
}

void HostValues::Fill(hal::DeviceAddress destination, uint8_t value, uint64_t bytes) {
  if (bytes > kMaxBytes) return Erase(destination, bytes);
  const std::string contents(bytes, static_cast<char>(value));
  Write(destination, contents.data(), bytes);
}

void HostValues::Copy(hal::DeviceAddress source, hal::DeviceAddress destination, uint64_t bytes) {
  if (bytes > kMaxBytes) return Erase(destination, bytes);
  std::string contents(bytes, '\0');
  Read(source, contents.data(), bytes);
  Write(destination, contents.data(), bytes);
}

void HostValues::Read(hal::DeviceAddress source, void* destination, uint64_t bytes) const {
  std::memset(destination, 0, bytes);
  const hal::DeviceAddress source_end = source + bytes;
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto value = FirstOverlapping(source); value != values_.end() && value->first < source_end; ++value) {
    const hal::DeviceAddress begin = std::max(source, value->first);
    const hal::DeviceAddress end = std::min<hal::DeviceAddress>(source_end, value->first + value->second.size());
    if (begin >= end) continue;
    std::memcpy(static_cast<char*>(destination) + (begin - source), value->second.data() + (begin - value->first),
                end - begin);
  }
}

void HostValues::Erase(hal::DeviceAddress address, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  EraseLocked(address, bytes);
}

HostValues::Values::const_iterator HostValues::FirstOverlapping(hal::DeviceAddress address) const {
  return values_.lower_bound(address < kMaxBytes ? 0 : address - kMaxBytes);
}

void HostValues::EraseLocked(hal::DeviceAddress address, uint64_t bytes) {
  for (auto value = FirstOverlapping(address); value != values_.end() && value->first < address + bytes;) {
    value = value->first + value->second.size() > address ? values_.erase(value) : std::next(value);
  }
}

}  // namespace hpu::null
