// Who may use the server, and from where.
#ifndef HPU_PLUGIN_SERVE_ACCESS_H_
#define HPU_PLUGIN_SERVE_ACCESS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "plugin/rpc/rpc.h"

namespace hpu::serve {

// PEM texts; all empty: no TLS.
struct TlsOptions {
  std::string certificate;
  std::string private_key;
  std::string client_ca;  // vouches for the certificates that clients must have; empty: they need none
};

// Immutable, thread safe.
class Access {
 public:
  // `token`: what clients must show; empty: nothing.
  Access(TlsOptions tls, std::string token) : tls_(std::move(tls)), token_(std::move(token)) {}
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

  // FailedPrecondition for addresses that other machines reach, unless they can be kept out; InvalidArgument for
  // options that do not go together.
  absl::Status CheckAddress(const std::string& address, const hpu_rpc_api& api) const;

  // Null without TLS; valid as long as this is.
  const hpu_rpc_tls* tls() const { return encrypted() ? &rpc_tls_ : nullptr; }
  bool encrypted() const { return !tls_.certificate.empty(); }

  // Unauthenticated, which says what the client must set, unless its call brought the token.
  absl::Status Check(absl::string_view authorization) const;

 private:
  const TlsOptions tls_;
  const std::string token_;
  const hpu_rpc_tls rpc_tls_ = {tls_.client_ca.empty() ? nullptr : tls_.client_ca.c_str(), tls_.certificate.c_str(),
                                tls_.private_key.c_str()};
};

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVE_ACCESS_H_
