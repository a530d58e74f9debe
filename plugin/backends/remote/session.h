// Session: the module that this process holds at a device server.
#ifndef HPU_PLUGIN_BACKENDS_REMOTE_SESSION_H_
#define HPU_PLUGIN_BACKENDS_REMOTE_SESSION_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "hpu/device/v1/device.pb.h"
#include "plugin/backends/common/liveness.h"
#include "plugin/backends/remote/connection.h"

namespace hpu::remote {

namespace proto = ::hpu::device::v1;

// Of the path at which a server hands out shared memory, after that of its own socket.
inline constexpr char kMemorySocketSuffix[] = ".memory";

// A thread tells the server that this process lives, and takes the server for dead when it is silent for the lease:
// then, or when the connection breaks, the device is lost with an Unavailable that names the server. Thread safe. In a
// forked child nothing but liveness() may be used, the destructor included.
class Session {
 public:
  // Waits for the server's answer, whose error it returns.
  static absl::StatusOr<std::unique_ptr<Session>> Acquire(std::unique_ptr<Connection> connection,
                                                          proto::Acquire request);
  // Gives the module back and waits until it is free. The calls made on connection() must be gone.
  ~Session();

  const common::Liveness& liveness() const { return liveness_; }
  const proto::Acquired& acquired() const { return acquired_; }
  const Connection& connection() const { return *connection_; }

  // A number for a mark or a recipe.
  uint64_t NewHandle() { return handles_.fetch_add(1, std::memory_order_relaxed) + 1; }
  void ForgetMark(uint64_t handle, uint64_t uses);
  void ForgetRecipe(uint64_t handle, uint64_t uses);

  // A call of this session ended though nobody asked for it. The first error stays.
  void Lose(const absl::Status& error);
  // The program gave up waiting: ends the session and all its calls.
  void Interrupt();
  // The device reported that it is lost.
  void LoseDevice() { liveness_.MarkLost(); }

 private:
  explicit Session(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}

  absl::Status Start(proto::Acquire request);
  void Receive(absl::string_view message);
  void Done(const absl::Status& status);
  void KeepAlive();
  // Hold mutex_.
  void AddForget(proto::Forget* forget, uint64_t handle, uint64_t uses);
  void Flush();

  common::Liveness liveness_;
  const std::unique_ptr<Connection> connection_;
  proto::Acquired acquired_;  // constant once answered_
  absl::Notification answered_;
  absl::Status answer_;  // the refusal, once answered_
  std::unique_ptr<Call> hold_;
  std::atomic<uint64_t> handles_{0};
  std::atomic<bool> unanswered_{false};  // whether a sign of life was sent since the last answer

  std::mutex mutex_;
  std::condition_variable stop_changed_;
  bool stop_ = false;           // guarded by mutex_
  proto::HoldRequest pending_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace hpu::remote

#endif  // HPU_PLUGIN_BACKENDS_REMOTE_SESSION_H_
