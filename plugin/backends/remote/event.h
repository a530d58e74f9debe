// Events of the remote backend: a point on a stream's timeline, and its handle at the server.
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

// A recorded point at the server. The server forgets it when the last event and the last stream release it.
class Mark {
 public:
  explicit Mark(Session* session) : session_(session), handle_(session->NewHandle()) {}
  ~Mark() { session_->ForgetMark(handle_, uses_); }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;

  uint64_t handle() const { return handle_; }
  // Called once before each Wait that is sent.
  void CountUse() { uses_.fetch_add(1, std::memory_order_relaxed); }

 private:
  Session* const session_;
  const uint64_t handle_;
  std::atomic<uint64_t> uses_{0};
};

// Host queries and waits are answered in this process: the server reports when a recorded point is reached.
class RemoteEvent final : public hal::Event {
 public:
  // A point in a stream's work. No mark: the point was already reached when it was recorded.
  struct Moment {
    common::Point point;
    std::shared_ptr<Mark> mark;
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
