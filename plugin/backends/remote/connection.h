// Connection and Call: gRPC connection to a device server, and calls of its DeviceService.
#ifndef HPU_PLUGIN_BACKENDS_REMOTE_CONNECTION_H_
#define HPU_PLUGIN_BACKENDS_REMOTE_CONNECTION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "google/protobuf/message_lite.h"
#include "plugin/rpc/rpc.h"

namespace hpu::remote {

// A broken connection ends all its calls with Unavailable and cannot be used again. Thread safe.
class Connection {
 public:
  // `spec` is a value of HPU_BACKEND: "grpc+unix:/path", "grpc://host:port", or "grpcs://host:port" with TLS.
  // Credentials come from HPU_SERVER_…. Fails with Unavailable if no server answers, or if client or server rejects the
  // other's certificate. Fails with InvalidArgument for an invalid spec or invalid credentials.
  static absl::StatusOr<std::unique_ptr<Connection>> Open(absl::string_view spec);
  ~Connection() { api_->close(channel_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const std::string& spec() const { return spec_; }
  // Disconnects immediately, which ends all calls.
  void Break() { api_->disconnect(channel_); }

 private:
  friend class Call;
  Connection(std::string spec, const hpu_rpc_api* api, hpu_rpc_channel* channel)
      : spec_(std::move(spec)), api_(api), channel_(channel) {}

  const std::string spec_;
  const hpu_rpc_api* const api_;
  hpu_rpc_channel* const channel_;
};

// One call of DeviceService. Thread safe. Must not outlive its connection.
class Call {
 public:
  // Callbacks run on the connection's thread, so they must not block. `on_done` runs last and once.
  using OnMessage = std::function<void(absl::string_view)>;
  using OnDone = std::function<void(const absl::Status&)>;

  // `method` is a method of DeviceService ("Hold").
  Call(const Connection& connection, absl::string_view method, OnMessage on_message, OnDone on_done = nullptr);
  // Cancels the call if it has not ended, and waits until on_done has returned.
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Queues a message. Returns false if the call has ended.
  bool Write(absl::string_view message) { return api_->write(call_, message.data(), message.size()) != 0; }
  bool Write(const google::protobuf::MessageLite& message) { return Write(message.SerializeAsString()); }
  // Like Write, for messages with repeated fields only: queued messages may be concatenated.
  bool WriteJoinable(absl::string_view message) {
    return api_->write_joinable(call_, message.data(), message.size()) != 0;
  }
  // Blocks while more than `bytes` bytes are unsent. Returns false if the call has ended.
  bool WaitWritable(uint64_t bytes) { return api_->wait_writable(call_, bytes) != 0; }
  // Ends the client's side of the call: no more messages are written.
  void WritesDone() { api_->writes_done(call_); }
  // Blocks until the call has ended and returns its status. Returns Unavailable after `timeout`.
  absl::Status Wait(absl::Duration timeout = absl::InfiniteDuration());

 private:
  static void ReceiveMessage(void* self, const void* data, size_t size);
  static void ReceiveDone(void* self, int32_t code, const char* message, size_t size);

  const hpu_rpc_api* const api_;
  const OnMessage on_message_;
  const OnDone on_done_;
  absl::Notification done_;
  absl::Status status_;  // valid once done_ is notified
  hpu_rpc_call* call_;
};

}  // namespace hpu::remote

#endif  // HPU_PLUGIN_BACKENDS_REMOTE_CONNECTION_H_
