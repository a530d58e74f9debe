#include "plugin/backends/remote/connection.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "plugin/backends/common/signal_mask.h"
#include "plugin/backends/remote/credentials.h"
#include "plugin/backends/remote/rpc_library.h"
#include "plugin/base/status_macros.h"

namespace hpu::remote {
namespace {

constexpr int32_t kConnectTimeoutMs = 5000;

struct Address {
  std::string text;  // address in gRPC's notation
  bool encrypted = false;
};

absl::StatusOr<Address> AddressOf(absl::string_view spec) {
  absl::string_view rest = spec;
  const bool encrypted = absl::ConsumePrefix(&rest, "grpcs://");
  if ((encrypted || absl::ConsumePrefix(&rest, "grpc://")) && absl::StrContains(rest, ':')) {
    return Address{std::string(rest), encrypted};
  }
  if (absl::ConsumePrefix(&rest, "grpc+unix:") && rest.size() > 1 && rest.front() == '/') {
    return Address{absl::StrCat("unix:", rest), false};
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "HPU_BACKEND=", spec,
      " is not the address of a device server: set it to grpc+unix:/path, grpc://host:port or grpcs://host:port"));
}

// Fails if a token would be sent unencrypted over the network, or if TLS settings would be ignored.
absl::Status CheckSecrecy(const Address& address, const Credentials& credentials, const hpu_rpc_api& api) {
  if (address.encrypted || absl::StartsWith(address.text, "unix:")) return absl::OkStatus();
  if (!credentials.root_certificates.empty() || !credentials.certificate.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(credentials.root_certificates.empty() ? "HPU_SERVER_CERT" : "HPU_SERVER_CA",
                     " is set, but grpc:// is not encrypted: set HPU_BACKEND=grpcs://", address.text));
  }
  if (!credentials.token.empty() && api.is_loopback(address.text.c_str()) == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("a token must not be sent unencrypted over the network: pass --tls-cert to hpu serve, and set "
                     "HPU_BACKEND=grpcs://",
                     address.text));
  }
  return absl::OkStatus();
}

const char* TextOrNull(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

void KeepError(void* status, int32_t code, const char* message, size_t size) {
  *static_cast<absl::Status*>(status) =
      absl::Status(static_cast<absl::StatusCode>(code), absl::string_view(message, size));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(absl::string_view spec) {
  HPU_ASSIGN_OR_RETURN(const Address address, AddressOf(spec));
  HPU_ASSIGN_OR_RETURN(const Credentials credentials, ReadCredentials());
  HPU_ASSIGN_OR_RETURN(const hpu_rpc_api* api, RpcLibrary());
  HPU_RETURN_IF_ERROR(CheckSecrecy(address, credentials, *api));
  const hpu_rpc_tls tls = {TextOrNull(credentials.root_certificates), TextOrNull(credentials.certificate),
                           TextOrNull(credentials.private_key)};
  const std::string authorization = credentials.token.empty() ? "" : absl::StrCat("Bearer ", credentials.token);
  const hpu_rpc_client_options options = {address.text.c_str(), kConnectTimeoutMs, address.encrypted ? &tls : nullptr,
                                          TextOrNull(authorization)};
  const common::ScopedSignalMask mask;  // inherited by the connection's thread and gRPC's threads
  absl::Status error;
  hpu_rpc_channel* channel = api->connect(&options, KeepError, &error);
  if (channel == nullptr) {
    return absl::Status(
        error.code(),
        address.encrypted
            ? absl::StrCat("cannot connect to the device server at ", spec, " (", error.message(),
                           "); check that it runs, that HPU_SERVER_CA verifies its certificate and its address, and "
                           "that HPU_SERVER_CERT and HPU_SERVER_KEY satisfy its --tls-client-ca")
            : absl::StrCat("no device server answers at ", spec, " (", error.message(),
                           "); start one: hpu serve --listen ", address.text));
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
  return absl::UnavailableError(absl::StrCat("the server accepted the connection but has not answered for ",
                                             absl::FormatDuration(timeout),
                                             "; check the server's load, or restart it (hpu serve)"));
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
