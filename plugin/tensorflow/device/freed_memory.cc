#include "plugin/tensorflow/device/freed_memory.h"

#include <algorithm>
#include <utility>

#include "plugin/base/status_macros.h"

namespace hpu {
namespace {

// Smaller pages would track frees more precisely, but recording the free of a large allocation would take longer.
constexpr uint64_t kPageBytes = 256 << 10;

}  // namespace

FreedMemory::FreedMemory(hal::DeviceAddress base, uint64_t bytes) : base_(base), pages_(bytes / kPageBytes + 1) {}

void FreedMemory::Clear() {
  std::lock_guard<std::mutex> lock(mutex_);
  ends_.clear();
  reached_ = period_.load(std::memory_order_seq_cst) - 1;
}

void FreedMemory::Free(hal::DeviceAddress address, uint64_t bytes) {
  if (bytes == 0) return;
  const uint32_t period = period_.load(std::memory_order_seq_cst);
  const uint64_t first = (address - base_) / kPageBytes, last = (address - base_ + bytes - 1) / kPageBytes;
  for (uint64_t page = first; page <= last; ++page) {
    // Another thread may already have stored a later period.
    uint32_t known = pages_[page].load(std::memory_order_relaxed);
    while (known < period && !pages_[page].compare_exchange_weak(known, period, std::memory_order_release)) {
    }
  }
}

uint32_t FreedMemory::LastFree(hal::DeviceAddress address, uint64_t bytes) const {
  uint32_t latest = 0;
  const uint64_t first = (address - base_) / kPageBytes, last = (address - base_ + bytes - 1) / kPageBytes;
  for (uint64_t page = first; page <= last; ++page) {
    latest = std::max(latest, pages_[page].load(std::memory_order_acquire));
  }
  return latest;
}

absl::Status FreedMemory::WaitForUsers(hal::DeviceAddress address, uint64_t bytes, hal::Stream& compute,
                                       hal::Stream& stream, EventPool& events) {
  if (bytes == 0) return absl::OkStatus();
  std::lock_guard<std::mutex> lock(mutex_);
  // Ends the period before recording its event. A thread that reads the old period in Free() has then queued all users
  // of the memory before the event.
  const uint32_t ended = period_.fetch_add(1, std::memory_order_seq_cst);
  HPU_ASSIGN_OR_RETURN(EventPool::Lease end, events.Record(compute));
  ends_.push_back({ended, std::move(end)});  // so that the search below finds this period
  // Other threads may already have freed memory on the same page in a later period.
  const uint32_t freed = std::min(LastFree(address, bytes), ended);
  while (!ends_.empty()) {
    const absl::StatusOr<bool> reached = ends_.front().event->Query();
    if (!reached.ok() || !*reached) break;  // an error also reaches the waiting stream
    reached_ = ends_.front().period;
    ends_.pop_front();
  }
  if (freed <= reached_) return absl::OkStatus();
  const auto users = std::find_if(ends_.begin(), ends_.end(), [&](const End& end) { return end.period >= freed; });
  return stream.Wait(*users->event);
}

}  // namespace hpu
