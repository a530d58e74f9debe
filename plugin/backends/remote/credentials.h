// What a client shows a device server, and how it knows it.
#ifndef HPU_PLUGIN_BACKENDS_REMOTE_CREDENTIALS_H_
#define HPU_PLUGIN_BACKENDS_REMOTE_CREDENTIALS_H_

#include <string>

#include "absl/status/statusor.h"

namespace hpu::remote {

// Certificates and key are PEM texts. Empty: none.
struct Credentials {
  std::string token;
  std::string root_certificates;  // that vouch for the server; none: the system's
  std::string certificate;        // the client's
  std::string private_key;        // the client's; there if and only if its certificate is
};

// As HPU_SERVER_TOKEN, _TOKEN_FILE, _CA, _CERT and _KEY have it now. InvalidArgument, which names the setting, if a
// file cannot be read or settings contradict each other.
absl::StatusOr<Credentials> ReadCredentials();

}  // namespace hpu::remote

#endif  // HPU_PLUGIN_BACKENDS_REMOTE_CREDENTIALS_H_
