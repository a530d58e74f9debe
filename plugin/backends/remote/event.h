// RemoteEvent: event of the remote backend, with a position in a stream's timeline and a handle at the server.
#ifndef HPU_PLUGIN_BACKENDS_REMOTE_EVENT_H_
#define HPU_PLUGIN_BACKENDS_REMOTE_EVENT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "plugin/backends/common/timeline.h"
#include "plugin/backends/remote/session.h"
#include "plugin/hal/event.h"

namespace hpu::remote {

// The server's handle of a recorded event. The destructor releases the handle; the server keeps the event until all
// Wait commands that use the handle have arrived.
class EventHandle {
 public:
  explicit EventHandle(Session* session) : session_(session), handle_(session->NewHandle()) {}
  ~EventHandle() { session_->ReleaseEvent(handle_, uses_); }
  EventHandle(const EventHandle&) = delete;
  EventHandle& operator=(const EventHandle&) = delete;

  uint64_t handle() const { return handle_; }
  // Call once before each Wait command is sent.
  void CountUse() { uses_.fetch_add(1, std::memory_order_relaxed); }

 private:
  Session* const session_;
  const uint64_t handle_;
  std::atomic<uint64_t> uses_{0};
};

// Query and Synchronize send no message, because the server reports each recorded event when the event's work has
// completed.
class RemoteEvent final : public hal::Event {
 public:
  // State of a recorded event. `handle` is null if the work before the event had already succeeded when the event was
  // recorded, or if the event was never recorded.
  struct Moment {
    common::Point point;
    std::shared_ptr<EventHandle> handle;
  };

  explicit RemoteEvent(const Session* session) : session_(session), state_(std::make_unique<State>()) {}
  ~RemoteEvent() override;

  absl::StatusOr<bool> Query() const override;
  absl::Status Synchronize() const override;

  const Session* session() const { return session_; }
  void Set(Moment moment);
  Moment moment() const;

 private:
  // Leaked, not destroyed, in a forked child.
  struct State {
    std::mutex mutex;
    Moment moment;
  };

  const Session* const session_;
  std::unique_ptr<State> state_;
};

}  // namespace hpu::remote

#endif  // HPU_PLUGIN_BACKENDS_REMOTE_EVENT_H_
