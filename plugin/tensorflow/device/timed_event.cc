#include "plugin/tensorflow/device/timed_event.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "plugin/base/status_macros.h"

namespace hpu {

// The time at which a stream reached the event. Shared with the stream's callback, which may outlive the event.
class TimedEvent::Timestamp {
 public:
  void Set() {
    time_ = absl::Now();
    reached_.Notify();
  }
  absl::Time Get() const {
    reached_.WaitForNotification();
    return time_;
  }

 private:
  absl::Time time_;
  absl::Notification reached_;
};

absl::StatusOr<std::unique_ptr<TimedEvent>> TimedEvent::Create(bool timing) {
  HPU_ASSIGN_OR_RETURN(ProcessDevice * device, ProcessDevice::Get());
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<hal::Event> event, device->hal().CreateEvent());
  return std::unique_ptr<TimedEvent>(new TimedEvent(*device, std::move(event), timing));
}

hal::Stream& TimedEvent::StreamOf(hal::StreamKind kind) const {
  switch (kind) {
    case hal::StreamKind::kHostToDevice:
      return device_.host_to_device();
    case hal::StreamKind::kDeviceToHost:
      return device_.device_to_host();
    case hal::StreamKind::kCompute:
      break;
  }
  return device_.compute();
}

absl::Status TimedEvent::Record(hal::StreamKind stream) {
  std::lock_guard<std::mutex> lock(mutex_);  // timestamp_ and event_ must belong to the same record
  if (timing_) {
    auto timestamp = std::make_shared<Timestamp>();
    // Callbacks run even after failed work, so waiters never block forever.
    HPU_RETURN_IF_ERROR(StreamOf(stream).AddCallback([timestamp](const absl::Status&) { timestamp->Set(); }));
    timestamp_ = std::move(timestamp);
  }
  return StreamOf(stream).Record(*event_);
}

absl::Status TimedEvent::Wait(hal::StreamKind stream) const { return StreamOf(stream).Wait(*event_); }

absl::StatusOr<absl::Time> TimedEvent::ReachedAt(absl::string_view which) const {
  if (!timing_) {
    return absl::FailedPreconditionError(
        absl::StrCat("the ", which, " event does not record times: create it with enable_timing=True"));
  }
  std::shared_ptr<Timestamp> timestamp;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    timestamp = timestamp_;
  }
  if (timestamp == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("the ", which, " event has not been recorded: call record() first"));
  }
  HPU_RETURN_IF_ERROR(Synchronize());
  return timestamp->Get();
}

absl::StatusOr<absl::Duration> TimedEvent::ElapsedUntil(const TimedEvent& end) const {
  HPU_ASSIGN_OR_RETURN(const absl::Time begin_time, ReachedAt("start"));
  HPU_ASSIGN_OR_RETURN(const absl::Time end_time, end.ReachedAt("end"));
  return end_time - begin_time;
}

}  // namespace hpu
