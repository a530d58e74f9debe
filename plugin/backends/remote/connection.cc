#include "plugin/backends/remote/connection.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "plugin/backends/common/signal_mask.h"
#include "plugin/backends/remote/rpc_library.h"
#include "plugin/hal/status_macros.h"

namespace hpu::remote {
namespace {

constexpr int32_t kConnectTimeoutMs = 5000;

absl::StatusOr<std::string> AddressOf(absl::string_view spec) {
  absl::string_view rest = spec;
  if (absl::ConsumePrefix(&rest, "grpc://") && rest.find(':') != absl::string_view::npos) return std::string(rest);
  if (absl::ConsumePrefix(&rest, "grpc+unix:") && rest.size() > 1 && rest.front() == '/') {
    return absl::StrCat("unix:", rest);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "HPU_BACKEND=", spec, " is no address of a device server: give grpc+unix:/path or grpc://host:port"));
}

void KeepError(void* status, int32_t code, const char* message, size_t size) {
  *static_cast<absl::Status*>(status) =
      absl::Status(static_cast<absl::StatusCode>(code), absl::string_view(message, size));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(absl::string_view spec) {
  HPU_ASSIGN_OR_RETURN(const std::string address, AddressOf(spec));
  HPU_ASSIGN_OR_RETURN(const hpu_rpc_api* api, RpcLibrary());
  const common::ScopedSignalMask mask;  // for the connection's thread and gRPC's own
  absl::Status error;
  hpu_rpc_channel* channel = api->connect(address.c_str(), kConnectTimeoutMs, KeepError, &error);
  if (channel == nullptr) {
    return absl::Status(error.code(), absl::StrCat("no device server answers at ", spec, " (", error.message(),
                                                   "); start one: hpu serve --listen ", address));
  }
  return std::unique_ptr<Connection>(new Connection(std::string(spec), api, channel));
}

Call::Call(const Connection& connection, absl::string_view method, OnMessage on_message, OnDone on_done)
    : api_(connection.api_), on_message_(std::move(on_message)), on_done_(std::move(on_done)) {
  const hpu_rpc_handler handler = {this, &ReceiveMessage, &ReceiveDone};
  call_ = api_->open(connection.channel_, absl::StrCat("/hpu.device.v1.DeviceService/", method).c_str(), &handler);
}

Call::~Call() {
  if (!done_.HasBeenNotified()) api_->cancel(call_);
  api_->free_call(call_);
}

absl::Status Call::Wait(absl::Duration timeout) {
  if (done_.WaitForNotificationWithTimeout(timeout)) return status_;
  return absl::UnavailableError(
      absl::StrCat("it took the connection but has not answered for ", absl::FormatDuration(timeout)));
}

void Call::ReceiveMessage(void* self, const void* data, size_t size) {
  static_cast<Call*>(self)->on_message_(absl::string_view(static_cast<const char*>(data), size));
}

void Call::ReceiveDone(void* self, int32_t code, const char* message, size_t size) {
  auto* call = static_cast<Call*>(self);
  call->status_ = absl::Status(static_cast<absl::StatusCode>(code), absl::string_view(message, size));
  if (call->on_done_) call->on_done_(call->status_);
  call->done_.Notify();
}

}  // namespace hpu::remote
