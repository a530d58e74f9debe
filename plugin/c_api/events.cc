// Event functions of the C interface.
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/c_api/c_api.h"
#include "plugin/c_api/c_buffer.h"
#include "plugin/tensorflow/device/timed_event.h"

struct hpu_event {
  std::unique_ptr<hpu::TimedEvent> event;
};

namespace hpu {
namespace {

absl::StatusOr<hal::StreamKind> StreamKindOf(int32_t stream) {
  if (stream < HPU_STREAM_COMPUTE || stream > HPU_STREAM_DEVICE_TO_HOST) {
    return absl::InvalidArgumentError(
        absl::StrCat("invalid stream ", stream, ": expected 0 (compute), 1 (host to device) or 2 (device to host)"));
  }
  return static_cast<hal::StreamKind>(stream);
}

template <typename Function>
absl::Status OnStream(int32_t stream, Function function) {
  const absl::StatusOr<hal::StreamKind> kind = StreamKindOf(stream);
  return kind.ok() ? function(*kind) : kind.status();
}

}  // namespace
}  // namespace hpu

extern "C" {

int32_t hpu_event_create(int32_t timing, hpu_event** event, hpu_buffer* message) {
  absl::StatusOr<std::unique_ptr<hpu::TimedEvent>> made = hpu::TimedEvent::Create(timing != 0);
  *event = made.ok() ? new hpu_event{*std::move(made)} : nullptr;
  return hpu::ReportStatus(made.status(), message);
}

void hpu_event_destroy(hpu_event* event) { delete event; }

int32_t hpu_event_record(hpu_event* event, int32_t stream, hpu_buffer* message) {
  return hpu::ReportStatus(
      hpu::OnStream(stream, [event](hpu::hal::StreamKind kind) { return event->event->Record(kind); }), message);
}

int32_t hpu_event_wait(const hpu_event* event, int32_t stream, hpu_buffer* message) {
  return hpu::ReportStatus(
      hpu::OnStream(stream, [event](hpu::hal::StreamKind kind) { return event->event->Wait(kind); }), message);
}

int32_t hpu_event_query(const hpu_event* event, int32_t* reached, hpu_buffer* message) {
  const absl::StatusOr<bool> query = event->event->Query();
  *reached = query.ok() && *query;
  return hpu::ReportStatus(query.status(), message);
}

int32_t hpu_event_synchronize(const hpu_event* event, hpu_buffer* message) {
  return hpu::ReportStatus(event->event->Synchronize(), message);
}

int32_t hpu_event_elapsed(const hpu_event* begin, const hpu_event* end, double* milliseconds, hpu_buffer* message) {
  const absl::StatusOr<absl::Duration> elapsed = begin->event->ElapsedUntil(*end->event);
  *milliseconds = elapsed.ok() ? absl::ToDoubleMilliseconds(*elapsed) : 0;
  return hpu::ReportStatus(elapsed.status(), message);
}

}  // extern "C"
