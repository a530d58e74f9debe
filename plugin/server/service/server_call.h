// ServerCall: server side of a client's gRPC call (messages of proto/hpu/device/v1).
#ifndef HPU_PLUGIN_SERVER_SERVICE_SERVER_CALL_H_
#define HPU_PLUGIN_SERVER_SERVICE_SERVER_CALL_H_

#include <cstdint>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/message_lite.h"
#include "hpu/device/v1/device.pb.h"
#include "plugin/rpc/rpc.h"

namespace hpu::serve {

namespace proto = ::hpu::device::v1;

// Only the call's thread may read; all other functions are thread safe. All writes must be done before the call's
// thread returns from serving the call.
class ServerCall {
 public:
  static constexpr int32_t kWithoutEnd = -1;

  ServerCall(const hpu_rpc_api* api, hpu_rpc_server_call* call) : api_(api), call_(call) {}

  // Reads the next message. Returns false when the client ends the call. Fails with InvalidArgument if the message
  // cannot be parsed, and with DeadlineExceeded after `timeout_ms`.
  absl::StatusOr<bool> Read(google::protobuf::MessageLite* message, int32_t timeout_ms = kWithoutEnd) {
    const void* data = nullptr;
    size_t size = 0;
    switch (api_->read(call_, timeout_ms, &data, &size)) {
      case HPU_RPC_READ_END:
        return false;
      case HPU_RPC_READ_TIMEOUT:
        return absl::DeadlineExceededError(
            absl::StrCat("the client sent no ", message->GetTypeName(), " within ", timeout_ms, " ms"));
      case HPU_RPC_READ_MESSAGE:
        break;
    }
    if (!message->ParseFromArray(data, static_cast<int>(size))) {
      return absl::InvalidArgumentError(absl::StrCat("cannot parse the client's message as ", message->GetTypeName(),
                                                     " (", size, " bytes); use matching releases of hpu-tensorflow"));
    }
    return true;
  }
  // Queues a message; does nothing once the client is gone.
  void Write(const google::protobuf::MessageLite& message) {
    const std::string bytes = message.SerializeAsString();
    api_->server_write(call_, bytes.data(), bytes.size());
  }
  // Like Write, but the message may be concatenated with other queued joinable messages; see write_joinable in rpc.h.
  void WriteJoinable(const google::protobuf::MessageLite& message) {
    const std::string bytes = message.SerializeAsString();
    api_->server_write_joinable(call_, bytes.data(), bytes.size());
  }
  // Blocks while more than `bytes` bytes are unsent. Returns false once the client is gone.
  bool WaitWritable(uint64_t bytes) { return api_->server_wait_writable(call_, bytes) != 0; }
  // Whether the client still reads the call.
  bool IsOpen() { return WaitWritable(std::numeric_limits<uint64_t>::max()); }
  void Cancel() { api_->server_cancel(call_); }

 private:
  const hpu_rpc_api* const api_;
  hpu_rpc_server_call* const call_;
};

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_SERVICE_SERVER_CALL_H_
