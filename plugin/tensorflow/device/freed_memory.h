// FreedMemory: which work may still use device memory that was freed.
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

// Memory may be freed as soon as the compute work that uses it is queued. Later compute work may have it at once, but a
// copy on another stream must wait for that work: not for all that is queued, or no copy would ever run beside a step.
//
// Time is cut into periods, each of which ends with an event on the compute stream; every page of memory remembers the
// period in which something of it was freed last. Thread safe.
class FreedMemory {
 public:
  FreedMemory(hal::DeviceAddress base, uint64_t bytes);

  // Called before the memory is given to the allocator. Takes no lock.
  void Free(hal::DeviceAddress address, uint64_t bytes);

  // Holds later work of `stream` back until no work that is queued on `compute` uses what the range was before it was
  // allocated.
  absl::Status WaitForUsers(hal::DeviceAddress address, uint64_t bytes, hal::Stream& compute, hal::Stream& stream,
                            EventPool& events);

  // Forgets the work of all periods that have ended, once it has been waited for and its errors reported.
  void Clear();

 private:
  // Periods are counted by 32 bits: ten copies a second for ten years.
  struct End {
    uint32_t period;
    EventPool::Lease event;
  };

  uint32_t LastFree(hal::DeviceAddress address, uint64_t bytes) const;

  const hal::DeviceAddress base_;
  std::vector<std::atomic<uint32_t>> pages_;  // 0: never freed
  std::atomic<uint32_t> period_{1};
  std::mutex mutex_;
  std::deque<End> ends_;  // of periods whose work may still run, oldest first; guarded by mutex_
  uint32_t reached_ = 0;  // the last period whose work has ended; guarded by mutex_
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_FREED_MEMORY_H_
