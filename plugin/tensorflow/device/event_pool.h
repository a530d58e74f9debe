// EventPool: reusable events for ordering streams.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_EVENT_POOL_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_EVENT_POOL_H_

#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/hal/device.h"
#include "plugin/hal/event.h"
#include "plugin/hal/stream.h"

namespace hpu {

// Thread safe. The device must outlive the pool, and the pool must outlive its leases.
class EventPool {
 public:
  // Deleter that returns the event to the pool, even if streams still wait for it: recording an event again does not
  // change earlier waits.
  class Return {
   public:
    explicit Return(EventPool* pool = nullptr) : pool_(pool) {}
    void operator()(hal::Event* event) const;

   private:
    EventPool* pool_;
  };
  using Lease = std::unique_ptr<hal::Event, Return>;

  explicit EventPool(hal::Device* device) : device_(device) {}
  EventPool(const EventPool&) = delete;
  EventPool& operator=(const EventPool&) = delete;

  absl::StatusOr<Lease> Acquire();
  // Returns an event that marks the end of the work queued on `stream` so far.
  absl::StatusOr<Lease> Record(hal::Stream& stream);
  // Makes `later` wait until the work queued on `earlier` so far has ended.
  absl::Status Order(hal::Stream& earlier, hal::Stream& later);

 private:
  hal::Device* const device_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<hal::Event>> free_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_EVENT_POOL_H_
