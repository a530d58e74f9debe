// TimedEvent: an event on a device stream, for synchronisation and for time measurement.
#ifndef HPU_PLUGIN_TENSORFLOW_DEVICE_TIMED_EVENT_H_
#define HPU_PLUGIN_TENSORFLOW_DEVICE_TIMED_EVENT_H_

#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "plugin/hal/event.h"
#include "plugin/hal/stream.h"
#include "plugin/tensorflow/device/process_device.h"

namespace hpu {

// Recording again moves the event. An event that was never recorded counts as reached. Thread safe.
class TimedEvent {
 public:
  // Acquires the device. `timing`: whether each record keeps the time at which the event is reached.
  static absl::StatusOr<std::unique_ptr<TimedEvent>> Create(bool timing);

  // Marks the end of the work queued on the stream so far.
  absl::Status Record(hal::StreamKind stream);
  // Makes the stream wait until the event is reached.
  absl::Status Wait(hal::StreamKind stream) const;
  // Whether the event is reached. Fails with the error of the work before the event.
  absl::StatusOr<bool> Query() const { return event_->Query(); }
  absl::Status Synchronize() const { return event_->Synchronize(); }
  // Time from this event to `end`; waits for both. FailedPrecondition if one of the two was not recorded or was created
  // without timing.
  absl::StatusOr<absl::Duration> ElapsedUntil(const TimedEvent& end) const;

 private:
  class Timestamp;

  TimedEvent(ProcessDevice& device, std::unique_ptr<hal::Event> event, bool timing)
      : device_(device), event_(std::move(event)), timing_(timing) {}
  hal::Stream& StreamOf(hal::StreamKind kind) const;
  // Waits for the event and returns the time at which it was reached. `which` names the event in errors.
  absl::StatusOr<absl::Time> ReachedAt(absl::string_view which) const;

  ProcessDevice& device_;
  const std::unique_ptr<hal::Event> event_;
  const bool timing_;
  mutable std::mutex mutex_;
  std::shared_ptr<Timestamp> timestamp_;  // time of the latest record; null before the first record and without timing
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_DEVICE_TIMED_EVENT_H_
