#include "plugin/serve/access.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "plugin/serve/crypto.h"

namespace hpu::serve {

absl::Status Access::CheckAddress(const std::string& address, const hpu_rpc_api& api) const {
  if (tls_.certificate.empty() != tls_.private_key.empty()) {
    return absl::InvalidArgumentError("a certificate and its key belong together (--tls-cert, --tls-key)");
  }
  if (!encrypted() && !tls_.client_ca.empty()) {
    return absl::InvalidArgumentError("certificates of clients (--tls-client-ca) need TLS (--tls-cert, --tls-key)");
  }
  if (absl::StartsWith(address, "unix:")) {
    if (!encrypted()) return absl::OkStatus();
    return absl::InvalidArgumentError("TLS is for host:port; a Unix socket is the user's own without it");
  }
  if (api.is_loopback(address.c_str()) != 0) return absl::OkStatus();
  if (!encrypted()) {
    return absl::FailedPreconditionError(
        absl::StrCat(address,
                     " is no address of the loopback interface, and others can read along without TLS: give "
                     "--tls-cert and --tls-key, or listen on unix:/path or 127.0.0.1:port"));
  }
  if (token_.empty() && tls_.client_ca.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(address,
                     " is no address of the loopback interface, and anybody could use the modules: give "
                     "--token-file or --tls-client-ca"));
  }
  return absl::OkStatus();
}

absl::Status Access::Check(absl::string_view authorization) const {
  if (token_.empty()) return absl::OkStatus();
  if (authorization.empty()) {
    return absl::UnauthenticatedError(
        "this device server wants a token: set HPU_SERVER_TOKEN or HPU_SERVER_TOKEN_FILE to the one that it was "
        "started with (hpu serve --token-file)");
  }
  absl::string_view token = authorization;
  if (absl::ConsumePrefix(&token, "Bearer ") && EqualSecrets(token, token_)) return absl::OkStatus();
  return absl::UnauthenticatedError(
      "the client's token is not the one that this device server was started with (hpu serve --token-file): correct "
      "HPU_SERVER_TOKEN or HPU_SERVER_TOKEN_FILE");
}

}  // namespace hpu::serve
