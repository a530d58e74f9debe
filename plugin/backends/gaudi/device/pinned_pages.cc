#include "plugin/backends/gaudi/device/pinned_pages.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "plugin/base/log/log.h"
#include "plugin/base/round_up.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/status_payloads.h"

namespace hpu::gaudi {
namespace {

uint64_t PageBytes() {
  static const auto bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

uint64_t PageBegin(uint64_t address) { return address / PageBytes() * PageBytes(); }
uint64_t PageEnd(uint64_t address) { return RoundUp(address, PageBytes()); }

}  // namespace

PinnedPages::Mappings::iterator PinnedPages::FirstAfter(uint64_t address) {
  auto next = mappings_.upper_bound(address);
  if (next != mappings_.begin() && std::prev(next)->second.end > address) return std::prev(next);
  return next;
}

absl::Status PinnedPages::Map(uint64_t begin, uint64_t end) {
  const absl::Status status = HPU_SYNAPSE_CALL(
      functions_, synHostMap, (device_, end - begin, reinterpret_cast<const void*>(begin)), "size=", end - begin);
  if (!status.ok()) {
    return Reworded(status, absl::StrCat("cannot map ", end - begin, " bytes of host memory for the device: ",
                                         status.message(), "; raise ulimit -l (locked memory)"));
  }
  mappings_[begin] = Mapping{end, 1, true};
  return absl::OkStatus();
}

absl::Status PinnedPages::PinLocked(uint64_t begin, uint64_t end) {
  uint64_t at = begin;
  while (at < end) {
    const auto next = FirstAfter(at);
    if (next != mappings_.end() && next->first <= at) {
      ++next->second.uses;
      at = next->second.end;
      continue;
    }
    const uint64_t gap_end = next == mappings_.end() ? end : std::min(end, next->first);
    if (absl::Status status = Map(at, gap_end); !status.ok()) {
      UnpinLocked(begin, at);
      return status;
    }
    at = gap_end;
  }
  return absl::OkStatus();
}

void PinnedPages::UnpinLocked(uint64_t begin, uint64_t end) {
  auto mapping = FirstAfter(begin);
  while (mapping != mappings_.end() && mapping->first < end) {
    if (--mapping->second.uses > 0) {
      ++mapping;
      continue;
    }
    if (mapping->second.is_mapped) {
      const absl::Status status =
          HPU_SYNAPSE_CALL(functions_, synHostUnmap, (device_, reinterpret_cast<const void*>(mapping->first)),
                           "size=", mapping->second.end - mapping->first);
      if (!status.ok()) {
        HPU_LOG(kBackend, kWarning) << "cannot unmap host memory: " << status.message();
      }
    }
    mapping = mappings_.erase(mapping);
  }
}

absl::Status PinnedPages::Pin(uint64_t begin, uint64_t bytes) {
  std::lock_guard<std::shared_mutex> lock(mutex_);
  return PinLocked(PageBegin(begin), PageEnd(begin + bytes));
}

void PinnedPages::Unpin(uint64_t begin, uint64_t bytes) {
  std::lock_guard<std::shared_mutex> lock(mutex_);
  UnpinLocked(PageBegin(begin), PageEnd(begin + bytes));
}

void PinnedPages::AddPinned(uint64_t begin, uint64_t bytes) {
  std::lock_guard<std::shared_mutex> lock(mutex_);
  mappings_[begin] = Mapping{PageEnd(begin + bytes), 1, false};
}

void PinnedPages::RemovePinned(uint64_t begin, uint64_t bytes) { Unpin(begin, bytes); }

void PinnedPages::AddPool(uint64_t begin, uint64_t bytes) {
  std::lock_guard<std::shared_mutex> lock(mutex_);
  const uint64_t parts = (bytes + kPoolPartBytes - 1) / kPoolPartBytes;
  pools_[begin] = Pool{PageEnd(begin + bytes), std::vector<bool>(parts, false)};
}

void PinnedPages::RemovePool(uint64_t begin) {
  std::lock_guard<std::shared_mutex> lock(mutex_);
  const auto pool = pools_.find(begin);
  for (size_t part = 0; part < pool->second.is_pinned.size(); ++part) {
    if (!pool->second.is_pinned[part]) continue;
    const uint64_t at = begin + part * kPoolPartBytes;
    UnpinLocked(at, std::min(at + kPoolPartBytes, pool->second.end));
  }
  pools_.erase(pool);
}

absl::Status PinnedPages::PinPoolParts(uint64_t begin, uint64_t end) {
  auto pool = pools_.upper_bound(begin);
  if (pool == pools_.begin() || (--pool)->second.end < end) return absl::OkStatus();
  const uint64_t last = (end - 1 - pool->first) / kPoolPartBytes;
  for (uint64_t part = (begin - pool->first) / kPoolPartBytes; part <= last; ++part) {
    if (pool->second.is_pinned[part]) continue;
    const uint64_t at = pool->first + part * kPoolPartBytes;
    HPU_RETURN_IF_ERROR(PinLocked(at, std::min(at + kPoolPartBytes, pool->second.end)));
    pool->second.is_pinned[part] = true;
  }
  return absl::OkStatus();
}

bool PinnedPages::CutLocked(uint64_t begin, uint64_t end, Pieces* pieces) {
  auto mapping = FirstAfter(begin);
  for (uint64_t at = begin; at < end; ++mapping) {
    if (mapping == mappings_.end() || mapping->first > at) return false;
    const uint64_t piece_end = std::min(end, mapping->second.end);
    pieces->push_back(Piece{at, piece_end - at});
    at = piece_end;
  }
  return true;
}

absl::Status PinnedPages::Cut(uint64_t begin, uint64_t bytes, Pieces* pieces) {
  const uint64_t end = begin + bytes;
  {
    std::shared_lock<std::shared_mutex> lock(mutex_);
    if (CutLocked(begin, end, pieces)) return absl::OkStatus();
  }
  pieces->clear();
  std::lock_guard<std::shared_mutex> lock(mutex_);
  HPU_RETURN_IF_ERROR(PinPoolParts(begin, end));
  if (CutLocked(begin, end, pieces)) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(bytes,
                                          " bytes of host memory are not pinned: their buffer is being destroyed;"
                                          " keep a HostBuffer until its copies have ended"));
}

}  // namespace hpu::gaudi
