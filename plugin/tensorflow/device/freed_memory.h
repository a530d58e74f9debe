// FreedMemory: tracks the compute work that may still use freed device memory.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_FREED_MEMORY_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_FREED_MEMORY_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "plugin/hal/stream.h"
#include "plugin/hal/types.h"
#include "plugin/tensorflow/device/event_pool.h"

namespace hpu {

// Memory may be freed as soon as all compute work on the memory is queued. Later compute work may reuse the memory
// immediately, but a copy on another stream must first wait for the earlier users. A copy that waited for all queued
// work could not overlap with a step.
//
// Time is divided into periods; each ends with an event on the compute stream. Every page of memory stores the period
// in which part of it was last freed. Thread safe.
class FreedMemory {
 public:
  FreedMemory(hal::DeviceAddress base, uint64_t bytes);

  // Call before the allocator frees the memory. Acquires no lock.
  void Free(hal::DeviceAddress address, uint64_t bytes);

  // Makes `stream` wait until the work queued on `compute` no longer uses the previous allocations in the range.
  absl::Status WaitForUsers(hal::DeviceAddress address, uint64_t bytes, hal::Stream& compute, hal::Stream& stream,
                            EventPool& events);

  // Forgets the work of all periods. Call when that work has ended and its errors have been reported.
  void Clear();

 private:
  // The end of a period. A 32-bit period number suffices for ten copies a second over ten years.
  struct End {
    uint32_t period;
    EventPool::Lease event;
  };

  uint32_t LastFree(hal::DeviceAddress address, uint64_t bytes) const;

  const hal::DeviceAddress base_;
  std::vector<std::atomic<uint32_t>> pages_;  // 0: never freed
  std::atomic<uint32_t> period_{1};
  std::mutex mutex_;
  std::deque<End> ends_;  // one per period whose work may still run, oldest first; guarded by mutex_
  uint32_t reached_ = 0;  // the last period whose work has ended; guarded by mutex_
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_FREED_MEMORY_H_
