// EventPool: events to order streams with, used again and again.
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

// Thread safe. The device must outlive the pool, and the pool what it lends.
class EventPool {
 public:
  // Gives the event back to the pool. That is legal while streams still wait for it: they keep the point they saw.
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

  absl::StatusOr<Lease> Take();
  // An event that marks the end of the work queued on `stream` so far.
  absl::StatusOr<Lease> Record(hal::Stream& stream);
  // Holds later work of `later` back until the work queued on `earlier` so far has ended.
  absl::Status Order(hal::Stream& earlier, hal::Stream& later);

 private:
  hal::Device* const device_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<hal::Event>> free_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_EVENT_POOL_H_
