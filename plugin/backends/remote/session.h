// Session: lease of a module on a device server, kept alive by keepalives.
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

// Suffix of the memory socket's path, appended to the path of the server's socket. The server passes shared memory
// through the memory socket.
inline constexpr char kMemorySocketSuffix[] = ".memory";

// A thread sends keepalives to the server. A server that is silent for the lease time counts as dead. If the server is
// dead or the connection breaks, the device is lost with Unavailable and the server's address. Thread safe. In a forked
// child, only liveness() may be used; not even the destructor may run.
class Session {
 public:
  // Blocks until the server has answered. Fails with the server's error if the server refuses.
  static absl::StatusOr<std::unique_ptr<Session>> Acquire(std::unique_ptr<Connection> connection,
                                                          proto::Acquire request);
  // Releases the module and blocks until the module is free. All calls made on connection() must have been destroyed.
  ~Session();

  const common::Liveness& liveness() const { return liveness_; }
  const proto::Acquired& acquired() const { return acquired_; }
  const Connection& connection() const { return *connection_; }

  // A new handle, for a recorded event, a recipe or a communicator.
  uint64_t NewHandle() { return handles_.fetch_add(1, std::memory_order_relaxed) + 1; }
  // Release the handle of a recorded event or of a recipe. `uses`: number of commands that use the handle. The server
  // keeps the object until all these commands have arrived.
  void ReleaseEvent(uint64_t handle, uint64_t uses);
  void ReleaseRecipe(uint64_t handle, uint64_t uses);

  // Marks the device as lost, with `error` and the server's address. Only the first error is kept.
  void Lose(const absl::Status& error);
  // Marks the device as lost and disconnects, because the program was interrupted while it waited for the device.
  void Interrupt();
  // Marks the device as lost after the server has reported the loss.
  void LoseDevice() { liveness_.MarkLost(); }

 private:
  explicit Session(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}

  absl::Status Start(proto::Acquire request);
  void Receive(absl::string_view message);
  void Done(const absl::Status& status);
  void KeepAlive();
  // Require mutex_.
  void AddForget(proto::Forget* forget, uint64_t handle, uint64_t uses);
  void Flush();

  common::Liveness liveness_;
  const std::unique_ptr<Connection> connection_;
  proto::Acquired acquired_;  // constant once answered_ is notified
  absl::Notification answered_;
  absl::Status answer_;  // OK or the server's error; valid once answered_ is notified
  std::unique_ptr<Call> hold_;
  std::atomic<uint64_t> handles_{0};
  std::atomic<bool> unanswered_{false};  // whether a keepalive was sent since the server's last message

  std::mutex mutex_;
  std::condition_variable stop_changed_;
  bool stop_ = false;           // guarded by mutex_
  proto::HoldRequest pending_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace hpu::remote

#endif  // HPU_PLUGIN_BACKENDS_REMOTE_SESSION_H_
